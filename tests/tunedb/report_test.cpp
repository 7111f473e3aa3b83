// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <doctest/doctest.h>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <unistd.h>
#include <vector>

#include "libtune/measure/measure.hpp"
#include "libtune/store/database/trial_log.hpp"
#include "libtune/store/files/named_lock.hpp"
#include "libtune/tune/engine/tuning_transaction.hpp"
#include "libtune/tunedb/report/report_data.hpp"
#include "libtune/tunedb/report/report_page.hpp"
#include "libtune/tunedb/report/report_source.hpp"
#include "libtune/tunedb/report/running_searches.hpp"
#include "libtune/tunedb/report/stored_numbers.hpp"
#include "tests/tunedb/run_tunedb.hpp"

namespace report_test {

using namespace tune::testing;
using namespace tune::cli;
using nlohmann::json;
using tune::value_type;

TEST_CASE("dates are read as seconds, and nothing else is") {
  CHECK(seconds_of("1970-01-02T00:00:01Z") == 86401);
  CHECK(*seconds_of("2024-03-01T00:00:00Z") - *seconds_of("2024-02-29T00:00:00Z") == 86400);
  for (const char* text : {"", "2024-01-31", "2024-01-31 12:00:00Z", "2024-01-31T12:00:00+"}) {
    CHECK_FALSE(seconds_of(text).has_value());
  }
  CHECK(seconds_of(utc_now()).has_value());
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

TEST_CASE_FIXTURE(filled_database, "the data have a column for each parameter and figure") {
  const report_json data = report_json::parse(report_data({.databases = {path}}));
  REQUIRE(data["searches"].size() == 1);
  REQUIRE(data["functions"].size() == 2);
  const report_json& search = data["searches"][0];
  CHECK(data["functions"][search["function"].get<std::size_t>()]["name"] == function);
  CHECK(data["devices"][search["device"].get<std::size_t>()]["driver"] == "535.104");
  CHECK(search["trials"] == 3);
  CHECK(search["parameters"][0]["values"] == report_json{64, 128, 4096});
  CHECK(search["parameters"][0]["index"] == report_json{0, 1, 2});
  CHECK(search["score"] == report_json{1500, 1800, nullptr});
  CHECK(search["lower"] == report_json{1490, nullptr, nullptr});
  CHECK(search["samples"] == report_json{2, 1, 0});
  CHECK(search["measuring"] == report_json{3001.5, 1800, 0});
  CHECK(search["reasons"][0]["message"] == "too many work items");
  CHECK(search["bits"].is_null());
  CHECK(search["finalists"][0]["trial"] == 0);
  CHECK(search["finalists"][0]["samples"] == report_json{1500, 1501.5});
  CHECK(search["effects"]["parameters"][0]["name"] == "wgs");
}

TEST_CASE_FIXTURE(filled_database,
                  "values are in ascending order, and numbers are rounded to six digits") {
  {
    tune::tuning_database database(path);
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
      report_json::parse(report_data({.databases = {path}, .functions = {"rounded"}}));
  const report_json& search = data["searches"][0];
  CHECK(search["parameters"][0]["values"] == report_json{8, 64, 512});
  CHECK(search["parameters"][0]["index"] == report_json{2, 0, 1, 0});
  CHECK(search["score"][0] == 1234570);
  CHECK(search["metrics"][0]["values"][0].get<double>() == doctest::Approx(0.00123457));
  CHECK(search["metrics"][0]["unit"] == "GB/s");
  CHECK(search["finished"].is_null());
}

TEST_CASE_FIXTURE(filled_database, "digests of bits are the numbers of their groups") {
  {
    tune::tuning_database database(path);
    const auto search = database.begin_search(sample_function("digested"), sample_key());
    double digest = 281474976710655;  // one of six digits would be another
    for (const std::int64_t wgs : {8, 64, 512}) {
      database.add_trial(search, {.configuration = sample_tuning(wgs),
                                  .outcome = "measured",
                                  .samples_ns = {10},
                                  .score_ns = 10,
                                  .metrics = {{tune::bits_metric, digest, ""}}});
      if (wgs == 8) --digest;
    }
  }
  const report_json data =
      report_json::parse(report_data({.databases = {path}, .functions = {"digested"}}));
  CHECK(data["searches"][0]["bits"] == "2 groups of bits: 2, 1 trials");
  CHECK(data["searches"][0]["metrics"][0]["values"] == report_json{2, 1, 1});
}

TEST_CASE("no text of a database ends the element that the data are in") {
  const report_json data{{"name", "</script><!-- <b>\xff"}};
  const std::string text = report_text(data);
  CHECK(text.find('<') == std::string::npos);
  CHECK(report_json::parse(text)["name"] == "</script><!-- <b>\xef\xbf\xbd");
}

TEST_CASE("an earlier report is replaced, and no other file") {
  if (!has_report_page()) return;
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
  if (!has_report_page()) return;
  const std::string policy = report_policy();
  CHECK(contains(policy, "default-src 'none'"));
  CHECK(contains(policy, "connect-src 'none'"));
  CHECK_FALSE(contains(policy, "unsafe"));
  const std::string page = report_page("{{script}}");
  CHECK(contains(page, ">{{script}}<"));  // marks in the data are text
  CHECK_FALSE(contains(page, "{{d3}}"));
  CHECK_FALSE(contains(page, "<script src"));
  CHECK_FALSE(contains(page, "<link"));
}

TEST_CASE_FIXTURE(filled_database,
                  "report writes a page, replaces it, and leaves other files alone") {
  const report_json data = report_json::parse(tunedb("report - --json").output);
  CHECK(data["format"] == "libtune report");  // also without the library that draws pages
  const std::string file = folder.file("report.html");
  if (!has_report_page()) {
    CHECK(contains(tunedb("report " + file + " 2>&1").output, "node-d3"));
    return;
  }
  CHECK(tunedb("report " + file).code == 0);
  CHECK(contains(read(file), function));
  CHECK(tunedb("report " + file).code == 0);

  const std::string other = folder.file("notes.txt");
  std::ofstream(other) << "mine";
  const ended refused = tunedb("report " + other + " 2>&1");
  CHECK(refused.code == 1);
  CHECK(contains(refused.output, "--force"));
  CHECK(tunedb("report --force " + other).code == 0);
  CHECK(tunedb("report " + path + " 2>&1").code == 1);  // the database itself
  CHECK(tunedb("list").code == 0);
}

TEST_CASE("report shows several databases, and says which it does not find") {
  const filled_database here;
  if (!has_report_page()) return;
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

/// A search that has begun and has two trials.
tune::search_id begin(tune::tuning_database& database, const tune::record_key& key,
                      const std::string& made_at) {
  const auto search = database.begin_search(sample_function(), key, {.space = "space"}, "model");
  database.add_trial(search, {.configuration = sample_tuning(64),
                              .outcome = "measured",
                              .samples_ns = {1500},
                              .score_ns = 1500,
                              .made_at = made_at});
  database.add_trial(search, {.configuration = sample_tuning(128),
                              .outcome = "compile failed",
                              .message = "no",
                              .made_at = made_at});
  return search;
}

TEST_CASE("a key comes back in the order of its fields") {
  const std::vector<tune::named_value> key{
      {"type", std::string("a;4:rows=i6;")}, {"rows", std::int64_t{-64}}, {"empty", {}}};
  const std::vector<tune::field_description> fields{{"type", value_type::string},
                                                    {"rows", value_type::int32},
                                                    {"empty", value_type::int32, true}};
  const std::string sorted = tune::detail::canonical_arguments(key);
  CHECK(canonical_key(fields, sorted) == tune::canonical_text(key));
  CHECK(canonical_key({}, "") == "");
  CHECK_FALSE(canonical_key({fields[0]}, sorted).has_value());
  for (const char* damaged :
       {"4", "4:", "4:rows", "4:rows=", "4:rows=s9:x;", "4:rows=i6", "x:rows=i6;",
        "99999999999999999999:rows=i6;", "4:rows=s99999999999999999999:x;"}) {
    CHECK_FALSE(canonical_key({{"rows", value_type::int32}}, damaged).has_value());
  }
}

TEST_CASE_FIXTURE(filled_database,
                  "a search is running while a process has the right to tune its key") {
  tune::tuning_database database(path);
  CHECK(tunedb_json("watch --once").empty());
  const tune::record_key key = sample_key(32);
  begin(database, key, "2020-01-01T00:00:00Z");
  CHECK(tunedb_json("watch").empty());  // long ago, and nobody has the right: interrupted
  {
    tune::key_lock lock(path, tune::search_name(sample_function(), key));
    REQUIRE(lock.take(std::chrono::milliseconds(0)));
    const json running = tunedb_json("watch");
    REQUIRE(running.size() == 1);
    CHECK(running[0]["process"] == ::getpid());
    CHECK(running[0]["arguments"] == "rows=32, type=float32");
    CHECK(running[0]["strategy"] == "model");
    CHECK(running[0]["outcomes"] == json{{"measured", 1}, {"compile failed", 1}});
    CHECK(running[0]["best_ns"] == 1500);
    CHECK(running[0]["best"]["wgs"] == 64);
    CHECK(running[0]["configurations"].is_null());
    const std::string line = tunedb("watch --once").output;
    CHECK(contains(line, "2 tried: 1 measured, 1 compile failed"));
    CHECK(contains(line, "least time 1.50 us (wgs=64)"));
    CHECK(contains(line, std::to_string(::getpid())));
    CHECK(line.find('\n') == line.size() - 1);
  }
  CHECK(tunedb_json("watch").empty());
}

TEST_CASE_FIXTURE(filled_database,
                  "a search that was stopped is running again while a process continues it") {
  tune::tuning_database database(path);
  const tune::record_key key = sample_key(32);
  const auto search = begin(database, key, {});
  database.finish_search(search, tune::stopped_search);
  CHECK(tunedb_json("watch").empty());
  tune::key_lock lock(path, tune::search_name(sample_function(), key));
  REQUIRE(lock.take(std::chrono::milliseconds(0)));
  CHECK(tunedb_json("watch").size() == 1);
}

TEST_CASE_FIXTURE(
    filled_database,
    "a search without a lock is running while it stores trials, and not once it has ended") {
  tune::tuning_database database(path);
  const auto search = begin(database, sample_key(16), {});
  const json running = tunedb_json("watch");
  REQUIRE(running.size() == 1);
  CHECK(running[0]["process"].is_null());
  CHECK(contains(tunedb("watch --once").output, "without a lock"));
  database.finish_search(search, "found",
                         {.strategy = "model",
                          .ending = "complete",
                          .space = tune::stored_space{.combinations = 9, .configurations = 7}});
  CHECK(tunedb_json("watch").empty());
  // The next search of the same space says of how many.
  begin(database, sample_key(16), {});
  CHECK(tunedb_json("watch")[0]["configurations"] == 7);
  CHECK(contains(tunedb("watch --once").output, "2 of 7 tried"));
}

TEST_CASE_FIXTURE(filled_database, "names of a database cannot move the cursor of a terminal") {
  tune::tuning_database database(path);
  auto key = sample_key(16);
  key.arguments[1].value = std::string("\033[2Jevil\n");
  begin(database, key, {});
  const std::string line = tunedb("watch --once").output;
  CHECK(contains(line, "?[2Jevil?"));
  CHECK(line.find('\033') == std::string::npos);
}

TEST_CASE_FIXTURE(filled_database, "nothing is watched where there is no database") {
  CHECK(tunedb("watch --once --db " + folder.file("none.db")).code == 0);
  CHECK_FALSE(std::filesystem::exists(folder.file("none.db")));
}

TEST_CASE_FIXTURE(filled_database,
                  "a database is read again when it has changed, and before there is one") {
  const std::string path = folder.file("later.db");
  report_source source({.databases = {path}});
  const auto empty = source.now();
  CHECK(json::parse(empty->text)["searches"].empty());
  CHECK(source.now() == empty);
  tune::tuning_database database(path);
  begin(database, sample_key(), {});
  const auto filled = source.now();
  CHECK(filled->stamp != empty->stamp);
  CHECK(json::parse(filled->text)["searches"].size() == 1);
}

}  // namespace report_test
