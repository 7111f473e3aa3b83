// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/child/tuner_message.hpp"

#include <chrono>
#include <cstring>
#include <doctest/doctest.h>
#include <limits>
#include <random>
#include <vector>

#include "libtune/process/wire.hpp"

namespace tuner_message_test {

using namespace tune::detail;

std::optional<tuner_message> read(const std::vector<std::byte>& bytes) {
  tuner_message_reader reader;
  reader.append(bytes);
  return reader.next();
}

/// What comes out at the other end.
template <class Message>
Message sent(const Message& message) {
  const auto arrived = read(encode(message));
  REQUIRE(arrived);
  REQUIRE(std::holds_alternative<Message>(*arrived));
  // Every field: what was read is written as what was sent.
  CHECK(encode(*arrived) == encode(message));
  return std::get<Message>(*arrived);
}

tune::trial sample_trial() {
  tune::trial made;
  made.index = 7;
  made.configuration = {{"n", std::int64_t{-1}}, {"name", std::string("x")}, {"none", {}}};
  made.outcome = tune::outcome::measured;
  for (const double time : {0.1, 1.0 / 3, 5e-324, 1e300}) made.samples.add(tune::run_time(time));
  made.score = tune::run_time(0.1 + 0.2);
  made.bounds = {tune::run_time(0.1), tune::run_time(0.4)};
  made.preparation = std::chrono::nanoseconds(123456789);
  made.programs = {"a", "b"};
  made.metrics = {{"gflops", 0.1 + 0.2, "GFLOP/s"},
                  {"energy", std::numeric_limits<double>::quiet_NaN(), "J"}};
  return made;
}

std::vector<tuner_message> one_of_each() {
  tuning_request request{.function = {.name = "f",
                                      .version = 3,
                                      .key_fields = {{"k", tune::value_type::int32, true}},
                                      .value_fields = {{"v", tune::value_type::enumeration}}},
                         .key = {{"k", std::int64_t{4}}},
                         .device = {.backend = "OpenCL", .name = "device", .ordinal = 2}};
  request.options.strategy = "random";
  request.options.budget = tune::tuning_budget{.trials = 8};
  request.options.search.max_fraction = 0.5;
  request.options.search.early_end = false;
  request.options.search.least_score = 0.25;
  request.options.verify = tune::result_check::finalists;
  request.options.measure = tune::measure_settings{.max_iterations = 4};
  request.options.given_by = tune::option_source::command;
  request.options.from_environment = {"LIBTUNE_BUDGET"};
  request.choice.known.winners.emplace_back().values = {{"v", std::string("one")}};
  request.choice.configurations = {{{"v", std::string("two")}}};
  const tune::tuning_subject subject{
      .function = "f", .version = 3, .arguments = request.key, .device = {}};
  tune::search_started_event started;
  started.subject = subject;
  started.strategy = "model";
  started.removals = {{"small", 12}};
  tune::search_step step{.kind = tune::step_kind::samples, .index = 3, .launches = 100};
  return {
      handshake{.library = "0.1.0"},
      request,
      list_request{},
      prior_answer{{.unfinished = {{.outcome = "measured", .samples_ns = {1.5}}},
                    .spent = {std::chrono::seconds(2), 9}}},
      acknowledgement{},
      acceptance{},
      refusal{"why"},
      prior_question{{.space = "s", .compiler = "c", .library_version = "l", .stage = 1}},
      tune::tuning_event(started),
      tune::tuning_event(tune::trial_event{subject, sample_trial(), tune::trial_stage::refined}),
      tune::tuning_event(
          tune::progress_event{subject, {.planned = 4, .best = tune::run_time(1.25)}}),
      tune::tuning_event(tune::search_finished_event{.subject = subject,
                                                     .trials = {sample_trial()},
                                                     .best = 0,
                                                     .end = tune::search_end::trials,
                                                     .doubts = {"hm"},
                                                     .space = {.combinations = 3,
                                                               .configurations = 2,
                                                               .removals = {{"small", 1}},
                                                               .parameters = {{"x", {0.5}}}}}),
      tune::tuning_event(tune::live_event{.subject = subject,
                                          .change = tune::live_change::kept,
                                          .after = {{"x", 0.5}},
                                          .ratio = 0.9,
                                          .reason = "r"}),
      tune::step_event(tune::step_begin{step}),
      tune::step_event(tune::inner_begin{{.function = request.function, .database = "db"}}),
      tune::step_event(tune::inner_result{"name", {{"v", 0.5}}, true}),
      tune::step_event(tune::wait_begin{std::chrono::milliseconds(5)}),
      tune::step_event(tune::waiting_event{.subject = subject, .holder = tune::lock_holder{}}),
      process_spoilt{"how"},
      log_line{tune::log_level::error, "text"},
      tuning_result{{{"v", 0.5}}, tune::run_time(3)},
      tuning_failure{failure_kind::build, "text", "log"},
      function_list{{{request.function, {{"v", true}}}}},
      check_request{request.function, {{"v", std::string("one")}}},
      check_answer{"why"}};
}

TEST_CASE("every message arrives as it was sent") {
  for (const tuner_message& message : one_of_each()) {
    std::visit([](const auto& content) { sent(content); }, message);
  }
}

TEST_CASE("a trial arrives with every bit of its times") {
  const tune::tuning_event event =
      sent(tune::tuning_event(tune::trial_event{{}, sample_trial(), tune::trial_stage::finished}));
  const tune::trial& made = std::get<tune::trial_event>(event).trial;
  const tune::samples kept = sample_trial().samples;
  REQUIRE(made.samples.size() == kept.size());
  for (std::size_t i = 0; i < kept.size(); ++i) {
    const double there = made.samples.times()[i].count();
    const double here = kept.times()[i].count();
    CHECK(std::memcmp(&there, &here, sizeof here) == 0);
  }
  CHECK(made.score == sample_trial().score);
  CHECK(made.bounds == sample_trial().bounds);
  CHECK(made.configuration == sample_trial().configuration);
  CHECK(made.programs == sample_trial().programs);
  CHECK(made.metrics == sample_trial().metrics);
}

TEST_CASE("a message that is cut short is waited for, and one that lies about it is refused") {
  for (const tuner_message& message : one_of_each()) {
    const auto bytes = encode(message);
    for (std::size_t length = 0; length < bytes.size(); ++length) {
      std::vector<std::byte> part(bytes.begin(),
                                  bytes.begin() + static_cast<std::ptrdiff_t>(length));
      CHECK_FALSE(read(part));
      constexpr std::size_t header = 12;
      if (length < header) continue;
      const std::uint64_t claimed = length - header;
      std::memcpy(part.data() + 4, &claimed, sizeof claimed);
      CHECK_THROWS_AS(read(part), wire_error);
    }
  }
}

TEST_CASE("what is too long, of another kind or no message at all is refused") {
  auto bytes = encode(acceptance{});
  SUBCASE("no message") { bytes[0] ^= std::byte{1}; }
  SUBCASE("too long") { bytes[10] = std::byte{0xFF}; }
  SUBCASE("another kind") { bytes[12] = std::byte{200}; }
  CHECK_THROWS_AS(read(bytes), wire_error);
}

TEST_CASE("a handshake of another version may have more fields") {
  auto bytes = encode(handshake{.protocol = 99, .library = "9.9"});
  bytes.insert(bytes.end(), 5, std::byte{42});
  const std::uint64_t length = bytes.size() - 12;
  std::memcpy(bytes.data() + 4, &length, sizeof length);
  const auto received = read(bytes);
  REQUIRE(received);
  CHECK(std::get<handshake>(*received).protocol == 99);
}

TEST_CASE("damaged messages are refused or mean something, and never crash") {
  std::minstd_rand random(1);
  std::size_t refused = 0;
  for (int round = 0; round < 300; ++round) {
    for (const tuner_message& message : one_of_each()) {
      auto bytes = encode(message);
      for (int edits = 0; edits < 3; ++edits) {
        // Not the length, so that the content is looked at.
        const std::size_t place = 12 + random() % (bytes.size() - 12);
        bytes[place] = static_cast<std::byte>(random() % 4 == 0 ? 0xFF : random());
      }
      try {
        if (const auto read_back = read(bytes)) static_cast<void>(encode(*read_back));
      } catch (const wire_error&) {
        ++refused;
      }
    }
  }
  CHECK(refused > 100);
}

TEST_CASE("prior results that are too long for a message are split") {
  tune::prior_knowledge known;
  for (int i = 0; i < 100; ++i) {
    tune::stored_trial trial;
    trial.configuration = {{"n", std::int64_t{i}}};
    trial.outcome = "measured";
    trial.samples_ns.assign(100, 1.0 + i);
    known.unfinished.push_back(trial);
    if (i % 10 == 0) known.denied.push_back(trial);
    if (i % 20 == 0) known.compile_failures.push_back(trial);
    known.similar.push_back(trial.configuration);
    if (i % 5 == 0) known.priors.push_back(trial.configuration);
  }
  known.spent = {.time = std::chrono::seconds(3), .trials = 100};
  known.losses = {.after = {{0.1, 0.2}, {0.05, 0.1}}, .judges = 12, .here = 10, .elsewhere = 4};
  const std::vector<prior_answer> parts = split(known, 10'000);
  CHECK(parts.size() > 8);
  tune::prior_knowledge whole;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    CHECK(parts[i].more == (i + 1 < parts.size()));
    CHECK(encode(parts[i]).size() < 13'000);
    append(whole, sent(parts[i]).known);
  }
  CHECK(encode(prior_answer{whole}) == encode(prior_answer{known}));
}

TEST_CASE("of prior results only the trials that no message holds are left out") {
  REQUIRE(split({}).size() == 1);
  tune::prior_knowledge known;
  known.unfinished.resize(2);
  known.unfinished[0].message.resize(longest_tuner_message_bytes + 1, 'x');
  known.unfinished[1].outcome = "measured";
  const auto parts = split(std::move(known));
  REQUIRE(parts.size() == 1);
  CHECK_FALSE(parts.front().more);
  REQUIRE(parts.front().known.unfinished.size() == 1);
  CHECK(parts.front().known.unfinished.front().outcome == "measured");
}

}  // namespace tuner_message_test
