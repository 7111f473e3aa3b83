// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What run_trial does with an attempt is in trial_runner_test.
#include "libtune/tune/trial_attempt.hpp"

#include <doctest/doctest.h>

#include "tests/tune/scale.hpp"

namespace {

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

}  // namespace

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
