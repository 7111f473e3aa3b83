// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <chrono>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>

#include "libtune/testing/fake_device.hpp"
#include "libtune/tune/engine/trial_attempt.hpp"
#include "libtune/tune/engine/trial_failure.hpp"
#include "tests/tune/scale.hpp"

namespace run_trial_test {

using tune::outcome;
using tune::testing::fake_call;

/// Tries one configuration on a fake device with a virtual clock.
struct bench {
  tune::testing::fake_device fake = sample::make_device();
  tune::context context = fake.device().create_context();
  tune::space<sample::scale_tuning> space = sample::make_space();

  tune::trial try_with(std::function<tune::measure(const sample::scale_tuning&)> generate,
                       std::optional<tune::resources> needs = std::nullopt,
                       const tune::known_failures& known = {}) const {
    const tune::search_problem problem{
        .space = space.core(),
        .configuration = [&](std::size_t i) { return tune::to_values(space[i]); },
        .needs = [&](std::size_t) { return needs; },
        .generate = [&](std::size_t i) { return generate(space[i]); }};
    return tune::run_trial(problem, 0, fake.device(), {}, fake.clock(), known);
  }
  tune::trial try_it(std::optional<tune::resources> needs = std::nullopt) const {
    return try_with([&](const sample::scale_tuning& t) { return sample::generate(context, t); },
                    needs);
  }
};

tune::measure constant_time(double seconds) {
  return tune::make_measure([seconds](int) { return seconds; });
}

TEST_CASE("a configuration that works has samples, a score, and no reason") {
  const bench b;
  const tune::trial result = b.try_it();
  CHECK(result.outcome == outcome::measured);
  CHECK(result.reason.empty());
  CHECK(result.score == tune::run_time(4010));
  CHECK(result.samples.size() >= 3);
  CHECK(tune::to_string(result.configuration) == "wgs=4, rows=1");
  CHECK(result.preparation >= std::chrono::milliseconds(1));  // the fake compiler's time
  CHECK(result.elapsed > result.preparation);
}

TEST_CASE("a null measure is skipped") {
  const bench b;
  const tune::trial result = b.try_with([](const auto&) -> tune::measure { return nullptr; });
  CHECK(result.outcome == outcome::skipped);
  CHECK_FALSE(result.score);
}

TEST_CASE("what it declares to need is compared with the device before anything is compiled") {
  const bench b;
  const tune::trial result = b.try_it(tune::resources{.work_group = {2048, 1, 1}});
  CHECK(result.outcome == outcome::over_limit);
  CHECK(result.reason.find("2048") != std::string::npos);
  CHECK(b.fake.calls(fake_call::compile) == 0);
}

TEST_CASE("each failure of the device is an outcome with its reason") {
  const bench b;
  outcome expected{};
  SUBCASE("compile") {
    b.fake.fail_next(fake_call::compile);
    expected = outcome::compile_failed;
  }
  SUBCASE("allocation") {
    b.fake.fail_next(fake_call::allocate, 1, {"no memory", tune::device_failure::out_of_memory});
    expected = outcome::over_limit;
  }
  SUBCASE("a launch over a limit") {
    b.fake.fail_next(fake_call::launch, 1, {"too much", tune::device_failure::over_limit});
    expected = outcome::over_limit;
  }
  SUBCASE("a launch that fails otherwise") {
    b.fake.fail_next(fake_call::launch, 1, {"illegal address", tune::device_failure::other});
    expected = outcome::launch_failed;
  }
  SUBCASE("a launch in the middle of the samples") {
    b.fake.fail_next(fake_call::launch, 5);
    expected = outcome::launch_failed;
  }
  SUBCASE("an unset argument") {
    b.fake.fail_next(fake_call::launch, 1, {"unset", tune::device_failure::invalid_launch});
    expected = outcome::launch_failed;
  }
  const tune::trial result = b.try_it();
  CHECK(result.outcome == expected);
  CHECK_FALSE(result.reason.empty());
  CHECK_FALSE(result.score);
}

TEST_CASE("whatever the author's function throws is a reason") {
  const bench b;
  const auto standard =
      b.try_with([](const auto&) -> tune::measure { throw std::logic_error("a bug"); });
  CHECK(standard.outcome == outcome::failed);
  CHECK(standard.reason == "a bug");
  const auto other = b.try_with([](const auto&) -> tune::measure { throw 7; });
  CHECK(other.outcome == outcome::failed);
  CHECK_FALSE(other.reason.empty());
}

TEST_CASE("a wrong result is never measured") {
  const bench b;
  const auto result = b.try_with([&](const sample::scale_tuning& t) {
    return sample::generate(b.context, t).check([]() -> std::optional<std::string> {
      return "3 of 4 elements differ";
    });
  });
  CHECK(result.outcome == outcome::wrong_result);
  CHECK(result.reason == "3 of 4 elements differ");
  CHECK(result.samples.size() == 0);
  CHECK(b.fake.calls(fake_call::launch) == 1);
}

TEST_CASE("the check sees the result of exactly one run") {
  const bench b;
  std::size_t launches = 0;
  b.try_with([&](const sample::scale_tuning& t) {
    return sample::generate(b.context, t).check([&]() -> std::optional<std::string> {
      launches = b.fake.calls(fake_call::launch);
      return std::nullopt;
    });
  });
  CHECK(launches == 1);
}

TEST_CASE("times that cannot be true never count") {
  const bench b;
  for (const double seconds : {std::nan(""), std::numeric_limits<double>::infinity(), 0.0, -1.0}) {
    CAPTURE(seconds);
    const auto result = b.try_with([&](const auto&) { return constant_time(seconds); });
    CHECK(result.outcome == outcome::invalid_time);
    CHECK_FALSE(result.score);
  }
}

TEST_CASE("a device that reports zero or negative times is not believed") {
  const bench b;
  for (const int nanoseconds : {0, -5}) {
    b.fake.set_time([&](const auto&) { return std::chrono::nanoseconds(nanoseconds); });
    CHECK(b.try_it().outcome == outcome::invalid_time);
  }
}

TEST_CASE("the programs of a trial are noted") {
  const bench b;
  const tune::trial once = b.try_it();
  REQUIRE(once.programs.size() == 1);
  CHECK(b.try_it().programs == once.programs);
  b.fake.fail_next(fake_call::compile);
  CHECK(b.try_it().programs == once.programs);
}

TEST_CASE("a program that is known not to compile is not compiled") {
  const bench b;
  b.fake.fail_next(fake_call::compile);
  const tune::trial first = b.try_it();
  CHECK(first.origin == tune::trial_origin::made);
  const auto generate = [&](const sample::scale_tuning& t) {
    return sample::generate(b.context, t);
  };
  const tune::known_failures known{.programs = {{first.programs.at(0), first.reason}},
                                   .configurations = {}};
  const tune::trial second = b.try_with(generate, {}, known);
  CHECK(second.outcome == outcome::compile_failed);
  CHECK(second.origin == tune::trial_origin::cached);
  CHECK(second.reason == first.reason);
  CHECK(second.programs == first.programs);
  CHECK(b.fake.calls(fake_call::compile) == 1);
}

TEST_CASE("the same program with another text is compiled") {
  const bench b;
  const tune::known_failures known{.programs = {{"of another text", "no"}}, .configurations = {}};
  const auto result = b.try_with(
      [&](const sample::scale_tuning& t) { return sample::generate(b.context, t); }, {}, known);
  CHECK(result.outcome == outcome::measured);
}

TEST_CASE("a configuration that is known not to compile is not even generated") {
  const bench b;
  const tune::known_failures known{
      .programs = {},
      .configurations = {{tune::canonical_text(tune::to_values(b.space[0])), "of then"}}};
  bool generated = false;
  const auto result = b.try_with(
      [&](const sample::scale_tuning&) -> tune::measure {
        generated = true;
        return nullptr;
      },
      {}, known);
  CHECK_FALSE(generated);
  CHECK(result.outcome == outcome::compile_failed);
  CHECK(result.origin == tune::trial_origin::cached);
  CHECK(result.reason == "of then");
}

}  // namespace run_trial_test

namespace run_trial_test::of_limits {

const tune::device_limits limits{.max_work_group_size = 1024,
                                 .max_work_group_extent = {1024, 1024, 64},
                                 .local_memory_bytes = 49152,
                                 .max_dynamic_local_memory_bytes = 232448};

TEST_CASE("what the device allows breaks nothing") {
  CHECK_FALSE(tune::find_broken_limit({}, limits));
  CHECK_FALSE(tune::find_broken_limit({{32, 32, 1}, 49152}, limits));
  CHECK_FALSE(tune::find_broken_limit({{16, 1, 64}, 0}, limits));
}

TEST_CASE("a broken limit is named with both numbers") {
  CHECK(tune::find_broken_limit({{64, 32, 1}, 0}, limits) ==
        "a work group of 2048 work items, the device allows 1024");
  CHECK(tune::find_broken_limit({{1, 1, 128}, 0}, limits) ==
        "a work group of 128 along z, the device allows 64");
  CHECK(tune::find_broken_limit({{1, 1, 1}, 49153}, limits) ==
        "49153 bytes of local memory, the device has 49152 (and 232448 for kernels that ask for it "
        "at launch)");
}

TEST_CASE("local memory that a launch asks for has a limit of its own, of all together") {
  CHECK_FALSE(tune::find_broken_limit({{1, 1, 1}, 0, 232448}, limits));
  CHECK_FALSE(tune::find_broken_limit({{1, 1, 1}, 49152, 183296}, limits));
  CHECK(tune::find_broken_limit({{1, 1, 1}, 49152, 183297}, limits) ==
        "232449 bytes of local memory, 183297 of them at launch, the device has 232448");
  CHECK(tune::find_broken_limit({{1, 1, 1}, 49153, 1}, limits));
}

}  // namespace run_trial_test::of_limits
