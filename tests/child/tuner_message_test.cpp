// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/child/tuner_message.hpp"

#include <chrono>
#include <cstring>
#include <doctest/doctest.h>
#include <limits>
#include <random>
#include <vector>

#include "libtune/child/watchdog.hpp"
#include "libtune/device/interface.hpp"
#include "libtune/process/wire.hpp"
#include "libtune/testing/fake_device.hpp"
#include "libtune/testing/fixtures.hpp"

namespace tuner_message_test {

using namespace tune::detail;
using namespace std::chrono_literals;
using tune::device;
using tune::outcome;
using tune::run_time;
using tune::search_step;
using tune::step_kind;
using tune::detail::address_of;
using tune::detail::child_process;
using tune::detail::classify_exit;
using tune::detail::classify_overtime;
using tune::detail::find_device;
using tune::detail::lost_trial;
using tune::detail::watchdog;
using tune::detail::watchdog_limits;
using tune::testing::scoped_environment;

std::optional<tuner_message> read(const std::vector<std::byte>& bytes) {
  tuner_message_reader reader;
  reader.append(bytes);
  return reader.next();
}

/// The message at the other end.
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

tune::testing::fake_device fake(const std::string& name) {
  tune::testing::fake_device_options options;
  options.identity = {name, "fake platform", "1.0"};
  return tune::testing::fake_device(options);
}

TEST_CASE("a device is found by its address, also among others that look the same") {
  const auto one = fake("one");
  const auto twin = fake("twin");
  const auto other_twin = fake("twin");
  const std::vector<device> all{twin.device(), one.device(), other_twin.device()};
  for (const device& wanted : all) {
    const auto address = address_of(wanted, all);
    REQUIRE(address);
    const auto found = find_device(*address, all);
    REQUIRE(found);
    CHECK(*found == wanted);
  }
}

TEST_CASE("a part of a device is found by its address as the same part") {
  const auto one = fake("one");
  const auto twin = fake("twin");
  const auto other_twin = fake("twin");
  const std::vector<device> all{one.device(), twin.device(), other_twin.device()};
  const auto parts = other_twin.device().divide({1});
  REQUIRE(parts.size() == 2);
  for (const device& wanted : parts) {
    const auto address = address_of(wanted, all);
    REQUIRE(address);
    const auto found = find_device(*address, all);
    REQUIRE(found);
    CHECK(found->identity() == wanted.identity());
    CHECK(found->impl()->part()->whole == other_twin.device().impl());
    CHECK(found->impl()->part()->index == wanted.impl()->part()->index);
  }
  CHECK(describe(*address_of(parts[1], all)).find("part 1 of 1 compute units of twin") == 0);
  const std::vector<device> others{one.device()};
  CHECK_FALSE(address_of(parts[0], others));
  CHECK_FALSE(find_device(*address_of(parts[0], all), others));
}

TEST_CASE("a device that is not one of them has no address, and no address leads to it") {
  const auto one = fake("one");
  const auto two = fake("two");
  const std::vector<device> all{one.device()};
  CHECK_FALSE(address_of(two.device(), all));
  const std::vector<device> others{two.device()};
  CHECK_FALSE(find_device(*address_of(two.device(), others), all));
}

TEST_CASE("another driver is another device") {
  const auto one = fake("one");
  const std::vector<device> all{one.device()};
  auto address = *address_of(one.device(), all);
  address.driver_version = "2.0";
  CHECK_FALSE(find_device(address, all));
}

TEST_CASE(
    "a device whose hardware is told differently is found by its name if that is the only one") {
  const auto one = fake("one");
  const auto twin = fake("twin");
  const auto other_twin = fake("twin");
  const std::vector<device> all{one.device(), twin.device(), other_twin.device()};
  auto address = *address_of(one.device(), all);
  address.uuid = "another each time";
  REQUIRE(find_device(address, all));
  CHECK(*find_device(address, all) == one.device());
  auto ambiguous = *address_of(twin.device(), all);
  ambiguous.uuid = "another each time";
  CHECK_FALSE(find_device(ambiguous, all));
}

tune::testing::fake_device card(const std::string& platform, const std::string& uuid) {
  tune::testing::fake_device_options options;
  options.identity = {"card", platform, "1.0"};
  options.hardware.uuid = uuid;
  return tune::testing::fake_device(options);
}

TEST_CASE("a child on one of several cards of NVIDIA sees that one alone") {
  const scoped_environment no_device("LIBTUNE_DEVICE", nullptr);
  const scoped_environment no_card("CUDA_DEVICE", nullptr);
  const scoped_environment no_context("PYOPENCL_CTX", nullptr);
  for (const std::string platform : {"CUDA", "NVIDIA CUDA"}) {
    const auto one = card(platform, "11111111-a");
    const auto two = card(platform, "22222222-b");
    const std::vector<device> both{one.device(), two.device()};
    CHECK(variables_for(two.device(), both) ==
          std::vector<std::string>{"CUDA_VISIBLE_DEVICES=GPU-22222222-b"});
    CHECK(variables_for(two.device().divide({1})[1], both) == variables_for(two.device(), both));
    CHECK(variables_for(one.device(), std::vector{one.device()}).empty());
    // With one card fewer an index would mean another device.
    const scoped_environment chosen("LIBTUNE_DEVICE", "1");
    CHECK(variables_for(two.device(), both).empty());
  }
}

TEST_CASE("a child sees all devices where no variable would leave some out, or none is another") {
  const scoped_environment no_device("LIBTUNE_DEVICE", nullptr);
  const scoped_environment no_card("CUDA_DEVICE", nullptr);
  const scoped_environment no_context("PYOPENCL_CTX", nullptr);
  const auto nvidia = card("CUDA", "11111111-a");
  const auto other_api = card("NVIDIA CUDA", "11111111-a");
  const auto unnamed = card("CUDA", "");
  const auto of_other_maker = card("Portable Computing Language", "22222222-b");
  const std::vector<device> all{nvidia.device(), other_api.device(), unnamed.device(),
                                of_other_maker.device()};
  for (const device& each : all) CHECK(variables_for(each, all).empty());
}

TEST_CASE("what a process finds is told") {
  const auto one = fake("one");
  const std::vector<device> all{one.device()};
  CHECK(tune::detail::describe_all(all).find("one (") == 0);
  CHECK(tune::detail::describe_all({}) == "none");
}

const search_step first_run{
    .kind = step_kind::first_run, .index = 2, .configuration = {{"n", std::int64_t{3}}}};

TEST_CASE("a signal is a crash, and the text names it") {
  const auto found =
      classify_exit(first_run, {.text = "killed by signal 11 (Segmentation fault)"}, true, true);
  REQUIRE(found);
  CHECK(found->outcome == outcome::crashed);
  CHECK(found->reason ==
        "its process ended during its first run: killed by signal 11 (Segmentation fault)");
}

TEST_CASE("a kill is the configuration's fault if memory ran out, or if it happens again") {
  const child_process::end killed{.text = "", .by_kill = true, .from_outside = true};
  CHECK(classify_exit(first_run, killed, true, false)->outcome == outcome::out_of_memory);
  CHECK_FALSE(classify_exit(first_run, killed, false, false));
  const auto found = classify_exit(first_run, killed, false, true);
  REQUIRE(found);
  CHECK(found->outcome == outcome::out_of_memory);
}

TEST_CASE("a signal from outside, or an end that nobody tells, is a crash when it happens again") {
  for (const child_process::end& end :
       {child_process::end{.text = "killed by signal 15", .from_outside = true},
        child_process::end{.text = "how is not known", .is_known = false}}) {
    CHECK(tune::detail::may_be_from_outside(end));
    CHECK_FALSE(classify_exit(first_run, end, false, false));
    const auto found = classify_exit(first_run, end, false, true);
    REQUIRE(found);
    CHECK(found->outcome == outcome::crashed);
    CHECK(found->reason == "its process ended twice during its first run: " + end.text);
  }
}

TEST_CASE("a child that cannot be spoken with has lost its descriptors, whoever ended it") {
  for (const child_process::end& end :
       {child_process::end{.text = "", .by_kill = true, .from_outside = true, .still_ran = true},
        child_process::end{.text = "", .exit_status = tune::detail::lost_link_status}}) {
    CHECK_FALSE(tune::detail::may_be_from_outside(end));
    const auto found = classify_exit(first_run, end, false, false);
    REQUIRE(found);
    CHECK(found->outcome == outcome::crashed);
    CHECK(found->reason.starts_with("it closed or replaced the descriptors of its process"));
  }
}

TEST_CASE("a step that took too long is said to have, with the limit") {
  watchdog watched({.floor = 2s});
  watched.begin(first_run, {}, {});
  const auto found = classify_overtime(watched, 2500ms);
  CHECK(found.outcome == outcome::timed_out);
  CHECK(found.reason.starts_with(
      "its process was stopped after 2.5 s during its first run; the limit was 2 s"));
}

TEST_CASE("the trial of what was lost has its configuration, and no program") {
  const auto lost = lost_trial(first_run, {outcome::crashed, "why"}, 3s);
  CHECK(lost.index == 2);
  CHECK(to_string(lost.configuration) == "n=3");
  CHECK(lost.reason == "why");
  CHECK(lost.elapsed == 3s);
  CHECK(lost.programs.empty());
}

constexpr watchdog_limits limits{.floor = 10s, .multiple = 20, .compile_time = 60s};

TEST_CASE("a quick run may take as long as the floor") {
  CHECK(limits.limit_of({.kind = step_kind::first_run, .launches = 1}, {}) == 10s);
  CHECK(limits.limit_of({.kind = step_kind::first_run, .launches = 1}, run_time(1e6)) == 10s);
}

TEST_CASE("a slow run may take a multiple of the best, each of its launches") {
  CHECK(limits.limit_of({.kind = step_kind::first_run, .launches = 1}, run_time(1e9)) == 20s);
  CHECK(limits.limit_of({.kind = step_kind::samples, .launches = 3}, run_time(1e9)) == 60s);
}

TEST_CASE("what is known to be slower than the best may take a multiple of its own time") {
  const search_step step{.kind = step_kind::samples, .launches = 8, .expected = run_time(4e9)};
  CHECK(limits.limit_of(step, run_time(1e6)) == 80s);
}

TEST_CASE("where something is generated the compiler's time comes on top") {
  CHECK(limits.limit_of({.kind = step_kind::generate}, run_time(1e9)) == 70s);
}

TEST_CASE("limits beyond what can be counted are a year") {
  const auto year = std::chrono::hours(24 * 365);
  CHECK(limits.limit_of({.kind = step_kind::run, .launches = 1}, run_time(1e300)) == year);
  const double infinite = std::numeric_limits<double>::infinity();
  CHECK(limits.limit_of({.kind = step_kind::run, .launches = 1}, run_time(infinite)) == year);
}

TEST_CASE("a watchdog looks at the step that is under way, and at nothing between steps") {
  watchdog watched(limits);
  const watchdog::time_point start{};
  CHECK_FALSE(watched.deadline());
  CHECK_FALSE(watched.is_over(start + 1h));
  watched.begin({.kind = step_kind::run, .index = 4, .launches = 1}, {}, start);
  REQUIRE(watched.step() != nullptr);
  CHECK(watched.step()->index == 4);
  CHECK(watched.deadline() == start + 10s);
  CHECK_FALSE(watched.is_over(start + 9s));
  CHECK(watched.is_over(start + 10s));
  watched.end(start + 9s);
  CHECK_FALSE(watched.is_over(start + 1h));
}

TEST_CASE("a tuning inside a step stops the step's clock, and its own steps are looked at") {
  watchdog watched(limits);
  const watchdog::time_point start{};
  watched.begin({.kind = step_kind::generate, .index = 4}, {}, start);
  watched.begin_inside(start + 50s);
  CHECK(watched.depth_of_step() == 0);
  watched.begin({.kind = step_kind::first_run, .index = 7, .launches = 1}, {}, start + 60s);
  CHECK(watched.step()->index == 7);
  CHECK(watched.depth_of_step() == 1);
  CHECK(watched.deadline() == start + 70s);
  watched.end(start + 61s);
  watched.begin({.kind = step_kind::first_run, .index = 8, .launches = 1}, {}, start + 100s);
  CHECK_FALSE(watched.is_over(start + 109s));
  CHECK(watched.is_over(start + 110s));
  watched.end(start + 101s);
  watched.end_inside(start + 1000s);
  CHECK(watched.step()->index == 4);
  CHECK(watched.deadline() == start + 1020s);
  CHECK(watched.elapsed(start + 1001s) == 51s);
}

TEST_CASE("a tuning inside a step that makes no step for longer than a compiler may take is over") {
  watchdog watched(limits);
  const watchdog::time_point start{};
  watched.begin({.kind = step_kind::generate, .index = 4}, {}, start);
  watched.begin_inside(start);
  CHECK_FALSE(watched.is_over(start + 129s));
  CHECK(watched.is_over(start + 130s));
  CHECK(watched.step()->index == 4);
}

TEST_CASE("a wait for others stops the clock for as long as it may take") {
  watchdog watched(limits);
  const watchdog::time_point start{};
  watched.begin_wait(600s, start);
  CHECK(watched.step() == nullptr);
  CHECK(watched.is_over(start + 730s));
  watched.end_wait(start + 500s);
  CHECK_FALSE(watched.deadline());
  watched.begin({.kind = step_kind::run, .index = 4, .launches = 1}, {}, start);
  watched.begin_wait(600s, start + 4s);
  CHECK_FALSE(watched.is_over(start + 729s));
  CHECK(watched.is_over(start + 734s));
  CHECK(watched.step()->index == 4);
  CHECK(watched.depth_of_step() == 0);
  watched.end_wait(start + 500s);
  CHECK(watched.deadline() == start + 506s);
  watched.forget();
  CHECK_FALSE(watched.deadline());
}

TEST_CASE("where a limit is given it holds for what is generated, but for what that compiles") {
  watchdog_limits given = limits;
  given.floor_is_given = true;
  const search_step step{.kind = step_kind::generate};
  CHECK(given.limit_of(step, {}) == 10s);
  watchdog watched(given);
  const watchdog::time_point start{};
  watched.begin(step, {}, start);
  watched.compiling_begins(start + 9s);
  CHECK_FALSE(watched.is_over(start + 60s));
  CHECK(watched.is_over(start + 70s));
  watched.compiling_ends(start + 49s);
  CHECK_FALSE(watched.is_over(start + 49s));
  CHECK(watched.deadline() == start + 50s);
  CHECK(watched.is_over(start + 50s));
}

TEST_CASE("a step that did not run for a while begins anew") {
  watchdog watched(limits);
  const watchdog::time_point start{};
  watched.begin({.kind = step_kind::run, .launches = 1}, {}, start);
  CHECK(watched.is_over(start + 100s));
  watched.begin_anew(start + 100s);
  CHECK_FALSE(watched.is_over(start + 109s));
  CHECK(watched.is_over(start + 110s));
}

}  // namespace tuner_message_test
