// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/console/event_log.hpp"

#include <chrono>
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "libtune/base/json.hpp"
#include "tests/console/sample_search.hpp"

namespace event_log_test {

using namespace std::chrono_literals;
using json = nlohmann::json;
using tune::testing::failed_trial;
using tune::testing::measured_trial;
using tune::testing::sample_configuration;
using tune::testing::sample_subject;

std::vector<json> lines_of(const std::ostringstream& out) {
  std::vector<json> lines;
  std::istringstream text(out.str());
  for (std::string line; std::getline(text, line);)
    lines.push_back(tune::detail::parse_json<json>(line));
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

}  // namespace event_log_test
