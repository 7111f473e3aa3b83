// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <doctest/doctest.h>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "libtune/tunedb/report/report_data.hpp"
#include "libtune/tunedb/report/report_page.hpp"
#include "tests/tunedb/run_tunedb.hpp"

namespace report_test {

using tune::cli::report_json;
using tune::cli::seconds_of;
using tune::cli::spread_seconds;
using tune::cli::sum_of_numbers;
using tune::testing::contains;
using tune::testing::ended;
using tune::testing::filled_database;
using tune::testing::read;
using tune::testing::sample_function;
using tune::testing::sample_key;
using tune::testing::sample_tuning;
using tune::testing::tunedb;

TEST_CASE("dates are read as seconds, and nothing else is") {
  CHECK(seconds_of("1970-01-02T00:00:01Z") == 86401);
  CHECK(*seconds_of("2024-03-01T00:00:00Z") - *seconds_of("2024-02-29T00:00:00Z") == 86400);
  for (const char* text : {"", "2024-01-31", "2024-01-31 12:00:00Z", "2024-01-31T12:00:00+"}) {
    CHECK_FALSE(seconds_of(text).has_value());
  }
  CHECK(seconds_of(tune::cli::utc_now()).has_value());
}

TEST_CASE("the numbers of an array are added up without a document") {
  CHECK(sum_of_numbers("[]").count == 0);
  CHECK(sum_of_numbers("[1500,1501.5]").count == 2);
  CHECK(sum_of_numbers("[1500, 1.5e2]").sum == doctest::Approx(1650));
}

TEST_CASE("trials of one second are spread over it") {
  using seconds = std::vector<std::optional<double>>;
  CHECK(spread_seconds({}).empty());
  CHECK(spread_seconds({0, 0, 3}) == seconds{0.5, 1, 4});
  // One that was stored again later was made before those that follow it.
  CHECK(spread_seconds({9, 1, 9}) == seconds{1.5, 2, 10});
  CHECK(spread_seconds({std::nullopt, 2}) == seconds{std::nullopt, 3});
}

TEST_CASE("the data have a column for each parameter and figure") {
  const filled_database here;
  const report_json data = tune::cli::report_data({.databases = {here.path}});
  REQUIRE(data["searches"].size() == 1);
  REQUIRE(data["functions"].size() == 2);
  const report_json& search = data["searches"][0];
  CHECK(data["functions"][search["function"].get<std::size_t>()]["name"] ==
        tune::testing::function);
  CHECK(data["devices"][search["device"].get<std::size_t>()]["driver"] == "535.104");
  CHECK(search["trials"] == 3);
  CHECK(search["parameters"][0]["values"] == report_json{64, 128, 4096});
  CHECK(search["parameters"][0]["index"] == report_json{0, 1, 2});
  CHECK(search["score"] == report_json{1500, 1800, nullptr});
  CHECK(search["lower"] == report_json{1490, nullptr, nullptr});
  CHECK(search["samples"] == report_json{2, 1, 0});
  CHECK(search["measuring"] == report_json{3001.5, 1800, 0});
  CHECK(search["reasons"][0]["message"] == "too many work items");
  CHECK(search["finalists"][0]["trial"] == 0);
  CHECK(search["finalists"][0]["samples"] == report_json{1500, 1501.5});
  CHECK(search["effects"]["parameters"][0]["name"] == "wgs");
}

TEST_CASE("values are in ascending order, and numbers are rounded to six digits") {
  const filled_database here;
  {
    tune::tuning_database database(here.path);
    const auto search = database.begin_search(sample_function("rounded"), sample_key());
    for (const std::int64_t wgs : {512, 8, 64, 8}) {
      database.add_trial(search, {.configuration = sample_tuning(wgs),
                                  .outcome = "measured",
                                  .samples_ns = {1234567.89},
                                  .score_ns = 1234567.89,
                                  .metrics = {{"gbs", 0.00123456789, "GB/s"}}});
    }
  }
  const report_json data =
      tune::cli::report_data({.databases = {here.path}, .functions = {"rounded"}});
  const report_json& search = data["searches"][0];
  CHECK(search["parameters"][0]["values"] == report_json{8, 64, 512});
  CHECK(search["parameters"][0]["index"] == report_json{2, 0, 1, 0});
  CHECK(search["score"][0] == 1234570);
  CHECK(search["metrics"][0]["values"][0].get<double>() == doctest::Approx(0.00123457));
  CHECK(search["metrics"][0]["unit"] == "GB/s");
  CHECK(search["finished"].is_null());
}

TEST_CASE("no text of a database ends the element that the data are in") {
  const report_json data{{"name", "</script><!-- <b>\xff"}};
  const std::string text = tune::cli::report_text(data);
  CHECK(text.find('<') == std::string::npos);
  CHECK(report_json::parse(text)["name"] == "</script><!-- <b>\xef\xbf\xbd");
}

TEST_CASE("an earlier report is replaced, and no other file") {
  if (!tune::cli::has_report_page()) return;
  const filled_database here;
  for (const std::string& command : {std::string("report "), std::string("report --json ")}) {
    const std::string file = here.folder.file(contains(command, "json") ? "a.json" : "a.html");
    CHECK(tunedb(command + file + " 2>&1").output.empty());
    CHECK(tunedb(command + file + " 2>&1").output.empty());
    std::ofstream(file) << R"({"format": "another"})";
    CHECK(contains(tunedb(command + file + " 2>&1").output, "is no export of libtune"));
  }
}

TEST_CASE("the page needs no network, and allows its own scripts alone") {
  if (!tune::cli::has_report_page()) return;
  const std::string policy = tune::cli::report_policy();
  CHECK(contains(policy, "default-src 'none'"));
  CHECK(contains(policy, "connect-src 'none'"));
  CHECK_FALSE(contains(policy, "unsafe"));
  const std::string page = tune::cli::report_page("{{script}}");
  CHECK(contains(page, ">{{script}}<"));  // marks in the data are text
  CHECK_FALSE(contains(page, "{{d3}}"));
  CHECK_FALSE(contains(page, "<script src"));
  CHECK_FALSE(contains(page, "<link"));
}

TEST_CASE("report writes a page, replaces it, and leaves other files alone") {
  const filled_database here;
  const std::string file = here.folder.file("report.html");
  if (!tune::cli::has_report_page()) {
    CHECK(contains(tunedb("report " + file + " 2>&1").output, "node-d3"));
    return;
  }
  CHECK(tunedb("report " + file).code == 0);
  CHECK(contains(read(file), tune::testing::function));
  CHECK(tunedb("report " + file).code == 0);
  const report_json data = report_json::parse(tunedb("report - --json").output);
  CHECK(data["format"] == "libtune report");

  const std::string other = here.folder.file("notes.txt");
  std::ofstream(other) << "mine";
  const ended refused = tunedb("report " + other + " 2>&1");
  CHECK(refused.code == 1);
  CHECK(contains(refused.output, "--force"));
  CHECK(tunedb("report --force " + other).code == 0);
  CHECK(tunedb("report " + here.path + " 2>&1").code == 1);  // the database itself
  CHECK(tunedb("list").code == 0);
}

TEST_CASE("report shows several databases, and says which it does not find") {
  const filled_database here;
  if (!tune::cli::has_report_page()) return;
  const std::string second = here.folder.file("second.db");
  {
    tune::tuning_database database(second);
    const auto search = database.begin_search(
        sample_function(), sample_key(64, {"GPU Two", "Some Platform", "550.1"}));
    database.add_trial(search, {.configuration = sample_tuning(32),
                                .outcome = "measured",
                                .samples_ns = {700},
                                .score_ns = 700});
  }
  const auto data_of = [](const std::string& arguments) {
    return report_json::parse(tunedb("report --json - " + arguments).output);
  };
  const report_json both = data_of(here.path + " " + second);
  CHECK(both["databases"].size() == 2);
  CHECK(both["searches"].size() == 2);
  CHECK(both["devices"].size() == 2);
  CHECK(both["searches"][1]["database"] == 1);
  CHECK(data_of(second)["searches"].size() == 1);
  CHECK(data_of("--function other__3")["searches"].empty());
  CHECK(tunedb("report - --function nothing 2>&1").code == 3);
  const ended missing = tunedb("report - " + here.folder.file("none.db") + " 2>&1");
  CHECK(missing.code == 3);
  CHECK(contains(missing.output, "tune first"));
}

}  // namespace report_test
