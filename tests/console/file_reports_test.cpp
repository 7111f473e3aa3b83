// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/console/event_log.hpp"
#include "libtune/console/reports.hpp"
#include "libtune/testing/temporary_directory.hpp"
#include "tests/console/sample_search.hpp"
#include "tests/store/temporary_folder.hpp"
#include "tests/testing/parsed_json.hpp"

namespace file_reports_test {

using namespace std::chrono_literals;
using namespace tune::testing;
using nlohmann::json;
using tune::outcome;
using tune::search_finished_event;

std::string csv_of(const search_finished_event& search) {
  std::ostringstream out;
  tune::write_csv(out, search);
  return out.str();
}

json json_of(const search_finished_event& search) {
  std::ostringstream out;
  tune::write_json(out, search);
  return tune::testing::parsed_json(out.str());
}

/// One trial with every kind of value.
search_finished_event search_of_values() {
  search_finished_event search;
  search.trials = {failed_trial(0,
                                {{"none", tune::value()},
                                 {"flag", true},
                                 {"low", std::numeric_limits<std::int64_t>::min()},
                                 {"high", std::numeric_limits<std::uint64_t>::max()},
                                 {"real", 0.1},
                                 {"undefined", not_a_number},
                                 {"text", std::string("a,b")}},
                                outcome::skipped, "")};
  return search;
}

TEST_CASE("CSV has a header and a row for each trial, complete and in order") {
  CHECK(csv_of(mixed_search()) ==
        "block_x,block_y,tile,outcome,score_ns,score_lower_ns,score_upper_ns,spread_ns,min_ns,mean_"
        "ns,samples,preparation_ns,"
        "reason\r\n"
        "16,2,1,measured,53100,53000,53200,148.26,53000,53100,3,12345000,\r\n"
        "16,4,1,measured,50000,,,0,50000,50000,1,12345000,\r\n"
        "32,2,1,measured,52500,,,0,52500,52500,2,12345000,\r\n"
        "32,4,1,over a device limit,,,,,,,0,0,it needs too much\r\n"
        "64,2,1,compile failed,,,,,,,0,0,\"blur.kernel does not compile\nerror: \"\"x\"\", "
        "unknown\nhere\"\r\n"
        "64,4,1,skipped,,,,,,,0,0,\r\n"
        "64,8,1,invalid time,,,,,,,2,0,\"a time is NaN, infinite, zero or negative\"\r\n"
        "96,4,1,over a device limit,,,,,,,0,0,it needs too much\r\n");
}

TEST_CASE("CSV quotes what would end a cell, and nothing else") {
  search_finished_event search;
  const auto reason = [&](const char* text) {
    search.trials = {
        failed_trial(0, {{"a \"b\"", std::string("plain text; 'x'")}}, outcome::skipped, text)};
    const std::string row = csv_of(search).substr(csv_of(search).find("\r\n") + 2);
    return row.substr(std::string("plain text; 'x',skipped,,,,,,,0,0,").size());
  };
  CHECK(csv_of(search).rfind("outcome,", 0) == 0);
  CHECK(reason("plain") == "plain\r\n");
  CHECK(reason("a,b") == "\"a,b\"\r\n");
  CHECK(reason("say \"x\"") == "\"say \"\"x\"\"\"\r\n");
  CHECK(reason("\"") == "\"\"\"\"\r\n");
  CHECK(reason("a\nb") == "\"a\nb\"\r\n");
  CHECK(reason("a\rb") == "\"a\rb\"\r\n");
  CHECK(csv_of(search).rfind("\"a \"\"b\"\"\",outcome,", 0) == 0);
}

TEST_CASE("CSV writes every kind of value, and nothing where there is none") {
  CHECK(csv_of(search_of_values()) ==
        "none,flag,low,high,real,undefined,text,outcome,score_ns,score_lower_ns,score_upper_ns,"
        "spread_ns,min_ns,mean_ns,samples,"
        "preparation_ns,reason\r\n"
        ",true,-9223372036854775808,18446744073709551615,0.1,nan,\"a,b\",skipped,,,,,,,0,0,\r\n");
}

TEST_CASE("CSV leaves statistics of samples that are NaN empty") {
  search_finished_event search;
  search.trials = {measured_trial(0, {}, {100})};
  search.trials[0].samples = samples_of({100, not_a_number});
  CHECK(csv_of(search).find("measured,100,,,,,,2,12345000,\r\n") != std::string::npos);
}

TEST_CASE("JSON holds the search and every trial") {
  const json got = json_of(mixed_search());
  CHECK(got["function"] == "blur.autotune");
  CHECK(got["version"] == 3);
  CHECK(got["arguments"] == json{{"type", "float32"}, {"radius", 2}});
  CHECK(got["device"] ==
        json{{"name", "some device"}, {"platform", "some platform"}, {"version", "1.2"}});
  CHECK(got["elapsed_ns"] == 1'500'000'000);
  CHECK(got["end"] == "complete");
  CHECK(got["best"] == json{{"block_x", 16}, {"block_y", 4}, {"tile", 1}});
  REQUIRE(got["trials"].size() == 8);
  CHECK(got["trials"][0] == json{{"configuration", {{"block_x", 16}, {"block_y", 2}, {"tile", 1}}},
                                 {"outcome", "measured"},
                                 {"reason", ""},
                                 {"score_ns", 53100.0},
                                 {"score_lower_ns", 53000.0},
                                 {"score_upper_ns", 53200.0},
                                 {"samples_ns", {53000.0, 53100.0, 53200.0}},
                                 {"preparation_ns", 12'345'000},
                                 {"metrics", json::object()}});
  CHECK(got["trials"][4]["reason"] == mixed_search().trials[4].reason);
  CHECK(got["trials"][6]["outcome"] == "invalid time");
  CHECK(got["trials"][6]["score_ns"].is_null());
  CHECK(got["trials"][1]["score_lower_ns"].is_null());
  CHECK(got["trials"][6]["samples_ns"] == json{51000.0, nullptr});
}

TEST_CASE("the coverage of a search is in its JSON, and CSV of its own has a row for each value") {
  auto search = mixed_search();
  search.space.combinations = 5000;
  const json got = json_of(search)["coverage"];
  CHECK(got["combinations"] == 5000);
  CHECK(got["tried"] == 8);
  CHECK(got["measured"] == 3);
  REQUIRE(got["parameters"].size() == 3);
  for (const json& item : got["parameters"]) {
    std::size_t tried = 0;
    for (const json& one : item["values"]) tried += one["tried"].get<std::size_t>();
    CHECK(tried == 8);
    CHECK((item["name"] == "tile") == (item["values"].size() == 1));
  }
  std::ostringstream out;
  tune::write_coverage_csv(out, search);
  const std::string csv = out.str();
  CHECK(csv.starts_with("parameter,share,value,tried,measured,best,unit,ratio,lower,upper\r\n"));
  CHECK(csv.find("\r\ntile,0,1,8,3,50000,ns,,,\r\n") != std::string::npos);
  CHECK(csv.find(",16,2,2,50000,ns,") != std::string::npos);
}

TEST_CASE("metrics are columns of CSV after all others, and an object in JSON") {
  const search_finished_event search = search_with_metrics();
  const std::string csv = csv_of(search);
  CHECK(csv.find(",reason,gflops,energy,registers\r\n") != std::string::npos);
  CHECK(csv.find(",12345000,,812.5,,64\r\n") != std::string::npos);
  CHECK(csv.find(",12345000,,,0.25,64\r\n") != std::string::npos);
  const json got = json_of(search);
  CHECK(got["trials"][0]["metrics"] == json{{"gflops", {{"value", 812.5}, {"unit", "GFLOP/s"}}},
                                            {"energy", {{"value", nullptr}, {"unit", "J"}}},
                                            {"registers", {{"value", 64.0}, {"unit", ""}}}});
}

TEST_CASE("JSON has the goal in words and the configurations of the front") {
  search_finished_event search = search_with_metrics();
  CHECK(json_of(search)["goal"] == "min time");
  search.goal = {.objectives = {tune::minimise("energy")},
                 .constraints = {tune::at_most("registers", 64)}};
  const json got = json_of(search);
  CHECK(got["goal"] == "min energy, registers <= 64");
  CHECK(got["front"] == json::array({{{"block_x", 16}, {"block_y", 4}, {"tile", 1}}}));
}

TEST_CASE("JSON says null for the best where all failed") {
  const json got = json_of(failed_search());
  CHECK(got["best"].is_null());
  CHECK(got["trials"].size() == 5);
}

TEST_CASE("JSON of a search without trials and arguments is complete") {
  const json got = json_of({});
  CHECK(got["trials"] == json::array());
  CHECK(got["arguments"] == json::object());
}

TEST_CASE("JSON keeps every kind of value") {
  const json got = json_of(search_of_values())["trials"][0]["configuration"];
  CHECK(got["none"].is_null());
  CHECK(got["flag"] == true);
  CHECK(got["low"].get<std::int64_t>() == std::numeric_limits<std::int64_t>::min());
  CHECK(got["high"].get<std::uint64_t>() == std::numeric_limits<std::uint64_t>::max());
  CHECK(got["real"] == 0.1);
  CHECK(got["undefined"] == "nan");  // as tunedb prints it
  CHECK(got["text"] == "a,b");
}

TEST_CASE("JSON survives names that are not UTF-8") {
  search_finished_event search = successful_search();
  search.subject.device.identity.name = "bad \xff name";
  CHECK(json_of(search)["device"]["name"] == "bad \xef\xbf\xbd name");
}

TEST_CASE("the file reporter writes each search over the one before") {
  const temporary_directory folder;
  tune::file_reporter reporter(folder / "trials.csv", tune::write_csv);
  reporter.search_finished(mixed_search());
  reporter.search_finished(successful_search());
  CHECK(content_of(folder / "trials.csv") == csv_of(successful_search()));
}

TEST_CASE("a file that cannot be written is an error that names it and says why") {
  const temporary_directory folder;
  const std::string path = folder / "missing" / "trials.json";
  tune::file_reporter reporter(path, tune::write_json);
  const std::string text =
      "the report '" + path + "' could not be written: No such file or directory";
  CHECK_THROWS_WITH_AS(reporter.search_finished(successful_search()), text.c_str(), tune::error);
}

std::vector<json> lines_of(const std::ostringstream& out) {
  std::vector<json> lines;
  std::istringstream text(out.str());
  for (std::string line; std::getline(text, line);)
    lines.push_back(tune::testing::parsed_json(line));
  return lines;
}

TEST_CASE("each event is one line of JSON with its name") {
  std::ostringstream out;
  tune::event_log log(out);
  const auto good = measured_trial(0, sample_configuration(16, 2), {100.0, 102.0, 101.0});
  const auto bad =
      failed_trial(1, sample_configuration(32, 2), tune::outcome::crashed, "signal 11");
  tune::lookup_event missed;
  missed.subject = sample_subject();
  log.on(missed);
  log.on(
      tune::search_started_event{.subject = sample_subject(), .strategy = "model", .planned = 2});
  log.on(tune::trial_event{sample_subject(), good, tune::trial_stage::taken_over});
  log.on(tune::trial_event{sample_subject(), bad, tune::trial_stage::finished});
  log.on(tune::trial_event{sample_subject(), good, tune::trial_stage::refined});
  log.on(tune::progress_event{sample_subject(), {.planned = 2, .compiling = 1, .elapsed = 3ms}});
  log.on(tune::search_finished_event{.subject = sample_subject(),
                                     .trials = {good, bad},
                                     .best = 0,
                                     .elapsed = 5ms,
                                     .end = tune::search_end::time,
                                     .doubts = {"it moved"}});
  const auto lines = lines_of(out);
  REQUIRE(lines.size() == 7);
  CHECK(lines[0]["event"] == "looked_up");
  CHECK(lines[0]["grade"] == "miss");
  CHECK(lines[1]["strategy"] == "model");
  CHECK(lines[1]["function"] == sample_subject().function);
  CHECK(lines[2]["event"] == "trial_taken_over");
  CHECK(lines[2]["score_ns"] == 101.0);
  CHECK(lines[3]["outcome"] == "crashed");
  CHECK(lines[3]["reason"] == "signal 11");
  CHECK(lines[3]["score_ns"].is_null());
  CHECK(lines[4]["event"] == "trial_refined");
  CHECK(lines[5]["compiling"] == 1);
  CHECK(lines[5]["elapsed_ns"] == 3'000'000);
  CHECK(lines[5]["budget_left_ns"].is_null());
  CHECK(lines[6]["end"] == "time");
  CHECK(lines[6]["best_ns"] == 101.0);
  CHECK(lines[6]["doubts"][0] == "it moved");
  CHECK(lines[6]["trials"] == 2);
}

TEST_CASE("a search without a winner has none in its last line") {
  std::ostringstream out;
  tune::event_log log(out);
  log.on(tune::search_finished_event{
      .subject = sample_subject(), .trials = {}, .best = {}, .elapsed = {}});
  const auto lines = lines_of(out);
  REQUIRE(lines.size() == 1);
  CHECK(lines[0]["best"].is_null());
  CHECK(lines[0]["best_ns"].is_null());
}

TEST_CASE("who waits, for whom and for how long is a line") {
  std::ostringstream out;
  tune::event_log log(out);
  log.on(tune::waiting_event{
      .subject = sample_subject(),
      .cause = tune::wait_cause::device,
      .holder = tune::lock_holder{.process = 12, .program = "receiver", .stopped = true},
      .waited = 2s,
      .limit = 600s});
  log.on(tune::waiting_event{.subject = sample_subject(), .waited = 3s, .over = true});
  const auto lines = lines_of(out);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0]["event"] == "waiting");
  CHECK(lines[0]["function"] == sample_subject().function);
  CHECK(lines[0]["cause"] == "device");
  CHECK(lines[0]["process"] == 12);
  CHECK(lines[0]["program"] == "receiver");
  CHECK(lines[0]["stopped"] == true);
  CHECK(lines[0]["waited_ns"] == 2e9);
  CHECK(lines[1]["process"].is_null());
  CHECK(lines[1]["over"] == true);
}

TEST_CASE("a change of a tuning in service is a line") {
  std::ostringstream out;
  tune::event_log log(out);
  log.on(tune::live_event{.subject = sample_subject(),
                          .change = tune::live_change::taken_back,
                          .before = {{"wgs", std::int64_t{32}}},
                          .after = {{"wgs", std::int64_t{64}}},
                          .ratio = 1.25,
                          .reason = "it is slower"});
  log.on(tune::live_event{.subject = sample_subject(), .change = tune::live_change::drifted});
  const auto lines = lines_of(out);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0]["event"] == "live_changed");
  CHECK(lines[0]["change"] == "taken back");
  CHECK(lines[0]["before"]["wgs"] == 32);
  CHECK(lines[0]["after"]["wgs"] == 64);
  CHECK(lines[0]["ratio"] == 1.25);
  CHECK(lines[0]["reason"] == "it is slower");
  CHECK(lines[1]["ratio"].is_null());
}

}  // namespace file_reports_test
