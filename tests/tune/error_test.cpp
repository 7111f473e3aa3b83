// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/error.hpp"

#include <doctest/doctest.h>
#include <string>

namespace error_test {

tune::tuning_subject subject() {
  tune::tuning_subject made{
      .function = "sample.scale", .version = 2, .arguments = {}, .device = {}};
  made.arguments = {{"size", std::int64_t{64}}};
  made.device.identity.name = "Some GPU";
  return made;
}

tune::trial failed(std::int64_t wgs, tune::outcome why, const std::string& reason) {
  tune::trial item;
  item.configuration = {{"wgs", wgs}};
  item.outcome = why;
  item.reason = reason;
  return item;
}

TEST_CASE("the failure of all configurations groups their reasons, the commonest first") {
  using tune::outcome;
  const tune::tuning_failed_error failure(
      subject(), {failed(1, outcome::wrong_result, "3 of 4 elements differ"),
                  failed(2, outcome::compile_failed, "no\nwgs=2"),
                  failed(4, outcome::compile_failed, "no\nwgs=4")});
  CHECK(std::string(failure.what()) ==
        "none of the 3 configurations of sample.scale version 2 (size=64) on device 'Some GPU' "
        "could be measured:\n"
        "  2 x compile failed: no (the first is wgs=2)\n"
        "  1 x wrong result: 3 of 4 elements differ (the first is wgs=1)");
  CHECK(failure.trials().size() == 3);
}

TEST_CASE("reasons that differ in numbers only are one group, with the first of them") {
  using tune::outcome;
  const tune::tuning_failed_error failure(
      subject(),
      {failed(1, outcome::wrong_result, "element 7 differs by 0.25"),
       failed(2, outcome::wrong_result, "element 12 differs by 1e-05"),
       failed(3, outcome::failed, "element 7 differs by 0.25"),
       failed(4, outcome::wrong_result, "element 3 differs by 3"),
       failed(5, outcome::compile_failed, "k.kernel:12:5: error: expected ';'\nfor wgs=5"),
       failed(6, outcome::compile_failed, "k.kernel:9:1: error: expected ';'\nfor wgs=6")});
  const std::string text = failure.what();
  CAPTURE(text);
  CHECK(text.find("\n  3 x wrong result: element 7 differs by 0.25 (the first is wgs=1)"
                  "\n  2 x compile failed: k.kernel:12:5: error: expected ';' (the first is wgs=5)"
                  "\n  1 x failed: element 7 differs by 0.25 (the first is wgs=3)") !=
        std::string::npos);
}

TEST_CASE("a missing result says where it was looked for and what to do") {
  const std::string text = tune::not_tuned_error(subject(), "/data/tuning.db").what();
  CHECK(text.find("sample.scale version 2 (size=64) on device 'Some GPU'") != std::string::npos);
  CHECK(text.find("'/data/tuning.db'") != std::string::npos);
  CHECK(text.find("LIBTUNE_MODE=tune") != std::string::npos);
}

TEST_CASE("an empty space says what emptied it") {
  tune::search_started_event search;
  search.subject = subject();
  search.combinations = 12;
  search.removals = {{"fits in local memory", 10}, {"", 2}};
  const std::string text = tune::empty_space_error(search).what();
  CHECK(text.find("all 12 combinations") != std::string::npos);
  CHECK(text.find("10 x fits in local memory") != std::string::npos);
  CHECK(text.find("2 x a restriction without a description") != std::string::npos);
}

}  // namespace error_test
