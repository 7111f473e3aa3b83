// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tunedb/reports.hpp"

#include <doctest/doctest.h>

#include "tests/tunedb/captured_output.hpp"

namespace reports_test {

using tune::merge_report;
using tune::cli::add_up;
using tune::cli::print_report;
using tune::testing::output_of;

TEST_CASE("reports add up, and each reason is told once") {
  merge_report sum{.results_added = 1, .results_replaced = 2, .left = 1, .reasons = {"a"}};
  add_up(sum, {.results_added = 10,
               .results_replaced = 20,
               .results_kept = 30,
               .searches_added = 40,
               .searches_known = 50,
               .left = 2,
               .reasons = {"a", "b"}});
  const tune::cli::json document = tune::cli::to_json(sum);
  CHECK(document["results_added"] == 11);
  CHECK(document["results_replaced"] == 22);
  CHECK(document["results_kept"] == 30);
  CHECK(document["searches_added"] == 40);
  CHECK(document["searches_known"] == 50);
  CHECK(document["left"] == 3);
  CHECK(document["reasons"] == std::vector<std::string>{"a", "b"});
}

TEST_CASE("a report of what was left says so, in words, in JSON and by its exit code") {
  const merge_report complete{.results_added = 3};
  const merge_report partial{.results_added = 3, .left = 1, .reasons = {"f: too old"}};
  tune::cli::exit_code code = tune::cli::failed;
  const auto text = [&](const merge_report& report, bool as_json) {
    return output_of([&] { code = print_report(report, as_json); });
  };
  CHECK(text(complete, false).find("left") == std::string::npos);
  CHECK(code == tune::cli::done);
  CHECK(text(partial, false).find("because f: too old") != std::string::npos);
  CHECK(code == tune::cli::part_left);
  CHECK(tune::cli::json::parse(text(partial, true))["reasons"][0] == "f: too old");
  CHECK(code == tune::cli::part_left);
}

}  // namespace reports_test
