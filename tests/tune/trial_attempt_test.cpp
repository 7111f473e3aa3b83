// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What run_trial does with an attempt is in trial_runner_test.
#include "libtune/tune/engine/trial_attempt.hpp"

#include <doctest/doctest.h>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include "libtune/extra/behind/page_gate.hpp"
#include "libtune/tune/engine/prior_trials.hpp"
#include "tests/tune/fake_compile_service.hpp"
#include "tests/tune/scale.hpp"

namespace trial_attempt_test {

using tune::testing::fake_call;
using stage = tune::trial_attempt::stage;

struct bench {
  tune::testing::fake_device fake = sample::make_device();
  tune::context context = fake.device().create_context();
  tune::device device = fake.device();
  tune::measure_settings settings;
  tune::wall_clock clock = fake.clock();
  tune::space<sample::scale_tuning> space = sample::make_space();
  tune::search_problem problem{
      .space = space.core(),
      .configuration = [this](std::size_t i) { return tune::to_values(space[i]); },
      .needs = [](std::size_t) { return std::nullopt; },
      .generate = [this](std::size_t i) { return sample::generate(context, space[i]); }};
  tune::known_failures nothing;
};

TEST_CASE("an attempt is tried out, sampled, released, and generated again") {
  bench b;
  tune::trial_attempt attempt(b.problem, 0, b.device, b.settings, b.clock);
  attempt.admit(b.nothing);
  CHECK(attempt.at() == stage::waiting);
  attempt.generate();
  REQUIRE(attempt.is_live());
  attempt.try_out();
  CHECK(attempt.sample(3).size() == 3);
  attempt.release();
  CHECK_FALSE(attempt.is_live());
  CHECK_FALSE(attempt.over());
  CHECK(b.fake.live_bytes() == 0);
  attempt.generate();
  attempt.warm_up();
  CHECK(attempt.sample(1).size() == 1);
}

TEST_CASE("beside an application whole runs are timed in slices, and long ones are left out") {
  bench b;
  tune::detail::gate_page page;
  page.share_ppm = 1'000'000;
  tune::detail::page_gate gate(page);
  const tune::step_hooks hooks{.gate = &gate};
  const auto times_of = [&](tune::trial_attempt& attempt) {
    attempt.admit(b.nothing);
    attempt.generate();
    page.slices = 0;
    return attempt.sample_whole(7, true).size();
  };
  // A run takes 4010 ns.
  page.slice_ns = 13'000;
  tune::trial_attempt sliced(b.problem, 0, b.device, b.settings, b.clock, hooks);
  CHECK(times_of(sliced) == 7);
  CHECK(page.slices == 3);
  page.slice_ns = 4'000;
  tune::trial_attempt late(b.problem, 0, b.device, b.settings, b.clock, hooks);
  CHECK(times_of(late) == 0);
  CHECK(page.slices == 1);
  CHECK(late.over());
  CHECK(late.result().outcome == tune::outcome::skipped);
  CHECK(tune::find_metric(late.result().metrics, tune::deferred_behind) != nullptr);
}

TEST_CASE("an attempt takes a prebuilt program, and when it has forgotten it compiles") {
  bench b;
  tune::trial_attempt attempt(b.problem, 0, b.device, b.settings, b.clock);
  attempt.admit(b.nothing);
  attempt.generate_prebuilt();
  REQUIRE(attempt.has_wanted());
  attempt.add_program(attempt.wanted().digest, sample::made_of(attempt.wanted()));
  attempt.generate_prebuilt();
  CHECK(attempt.at() == stage::ready);
  attempt.release();
  attempt.generate_prebuilt();
  CHECK(attempt.at() == stage::ready);
  CHECK(b.fake.calls(fake_call::compile) == 0);
  attempt.release();
  attempt.forget_programs();
  attempt.generate_prebuilt();
  CHECK(attempt.at() == stage::ready);
  CHECK(b.fake.calls(fake_call::compile) == 1);
}

TEST_CASE("what ran out of memory says so, and can be tried once more") {
  bench b;
  b.fake.fail_next(fake_call::allocate, 1, {"no memory", tune::device_failure::out_of_memory});
  tune::trial_attempt attempt(b.problem, 0, b.device, b.settings, b.clock);
  attempt.admit(b.nothing);
  attempt.generate();
  CHECK(attempt.over());
  CHECK(attempt.ran_out_of_memory());
  CHECK(attempt.result().outcome == tune::outcome::over_limit);
  attempt.retry();
  attempt.generate();
  CHECK(attempt.at() == stage::ready);
  CHECK(attempt.result().reason.empty());
}

TEST_CASE("an author may say why a configuration is skipped") {
  bench b;
  b.problem.generate = [](std::size_t) { return tune::measure::skipped("it spills registers"); };
  tune::trial_attempt attempt(b.problem, 0, b.device, b.settings, b.clock);
  attempt.admit(b.nothing);
  attempt.generate();
  CHECK(attempt.result().outcome == tune::outcome::skipped);
  CHECK(attempt.result().reason == "it spills registers");
}

TEST_CASE("what fails gives back what it had on the device") {
  bench b;
  b.fake.fail_next(fake_call::launch, 1, {"illegal address", tune::device_failure::other});
  tune::trial_attempt attempt(b.problem, 0, b.device, b.settings, b.clock);
  attempt.admit(b.nothing);
  attempt.generate();
  attempt.try_out();
  CHECK(attempt.over());
  CHECK_FALSE(attempt.is_live());
  CHECK(b.fake.live_bytes() == 0);
}

TEST_CASE("a cold cache is asked for where the settings say so") {
  bench b;
  b.settings.cache = tune::cache_state::cold;
  tune::trial_attempt attempt(b.problem, 0, b.device, b.settings, b.clock);
  attempt.admit(b.nothing);
  attempt.generate();
  attempt.try_out();
  const std::size_t before = b.fake.calls(fake_call::fill);
  CHECK(attempt.sample(3).size() == 3);
  CHECK(b.fake.calls(fake_call::fill) >= before + 3);
}

/// Writes down what it hears.
struct step_log {
  void operator()(const tune::step_event& event) {
    if (std::holds_alternative<tune::step_end>(event)) --under_way;
    const auto* begun = std::get_if<tune::step_begin>(&event);
    if (begun == nullptr) return;
    const tune::search_step& step = begun->step;
    lines.push_back(std::string(step_name(step.kind)) + " of " + to_string(step.configuration));
    steps.push_back(step);
    ++under_way;
  }
  std::vector<std::string> lines;
  std::vector<tune::search_step> steps;
  int under_way = 0;
};

TEST_CASE("every step that may not end is announced, and its end") {
  bench b;
  step_log log;
  const tune::step_listener listener = std::ref(log);
  const tune::step_hooks hooks{.listener = &listener};
  tune::trial_attempt attempt(b.problem, 0, b.device, b.settings, b.clock, hooks);
  attempt.admit(b.nothing);
  attempt.generate();
  attempt.try_out();
  attempt.sample(3);
  attempt.warm_up();
  CHECK(log.under_way == 0);
  const std::string of = " of " + to_string(attempt.result().configuration);
  CHECK(log.lines == std::vector<std::string>{"its preparation" + of, "its first run" + of,
                                              "timed runs" + of, "timed runs" + of, "a run" + of});
  CHECK(log.steps[2].launches == 1);
  CHECK(log.steps[3].launches >= 2);
  CHECK(log.steps[3].expected.count() > 0);
}

TEST_CASE("a step that fails has ended, too") {
  bench b;
  b.fake.fail_next(fake_call::launch);
  step_log log;
  const tune::step_listener listener = std::ref(log);
  const tune::step_hooks hooks{.listener = &listener};
  tune::trial_attempt attempt(b.problem, 0, b.device, b.settings, b.clock, hooks);
  attempt.admit(b.nothing);
  attempt.generate();
  attempt.try_out();
  CHECK(attempt.over());
  CHECK(log.under_way == 0);
}

TEST_CASE("a fault of the device is told from a launch that fails") {
  bench b;
  bool works = true;
  const tune::step_hooks hooks{.listener = nullptr, .device_works = [&] { return works; }};
  auto expected = tune::outcome::launch_failed;
  SUBCASE("by its name") {
    b.fake.fail_next(fake_call::launch, 1, {"fault", tune::device_failure::fault});
    expected = tune::outcome::device_fault;
  }
  SUBCASE("by a device that does not work any more") {
    b.fake.fail_next(fake_call::launch);
    works = false;
    expected = tune::outcome::device_fault;
  }
  SUBCASE("where the device works on") { b.fake.fail_next(fake_call::launch); }
  SUBCASE("where the error can have nothing to do with it") {
    b.fake.fail_next(fake_call::launch, 1, {"no", tune::device_failure::invalid_launch});
    works = false;
  }
  tune::trial_attempt attempt(b.problem, 0, b.device, b.settings, b.clock, hooks);
  attempt.admit(b.nothing);
  attempt.generate();
  attempt.try_out();
  CHECK(outcome_name(attempt.result().outcome) == outcome_name(expected));
}

TEST_CASE("a host without memory is an outcome of its own") {
  bench b;
  b.problem.generate = [](std::size_t) -> tune::measure { throw std::bad_alloc(); };
  tune::trial_attempt attempt(b.problem, 0, b.device, b.settings, b.clock);
  attempt.admit(b.nothing);
  attempt.generate();
  CHECK(attempt.result().outcome == tune::outcome::out_of_memory);
  CHECK_FALSE(is_incident(attempt.result()));
}

TEST_CASE("a host without memory while it runs is no incident either, and may be tried once more") {
  bench b;
  int runs = 0;
  b.problem.generate = [&](std::size_t) {
    return tune::make_measure([&](int) -> double {
      if (runs++ == 0) throw std::bad_alloc();
      return 1e-6;
    });
  };
  tune::trial_attempt attempt(b.problem, 0, b.device, b.settings, b.clock);
  attempt.admit(b.nothing);
  attempt.generate();
  attempt.try_out();
  CHECK(attempt.result().outcome == tune::outcome::out_of_memory);
  CHECK_FALSE(is_incident(attempt.result()));
  CHECK(attempt.ran_out_of_memory());
  CHECK(attempt.ran_out_of_host_memory());
  attempt.retry();
  attempt.generate();
  attempt.try_out();
  CHECK_FALSE(attempt.over());
}

TEST_CASE("what is denied is not generated") {
  bench b;
  tune::known_failures known;
  known.denied[canonical_text(b.problem.configuration(0))] = {tune::outcome::timed_out, "then"};
  tune::trial_attempt attempt(b.problem, 0, b.device, b.settings, b.clock);
  attempt.admit(known);
  CHECK(attempt.over());
  CHECK(attempt.result().outcome == tune::outcome::timed_out);
  CHECK(attempt.result().reason == "then");
  CHECK(attempt.result().origin == tune::trial_origin::cached);
}

}  // namespace trial_attempt_test
