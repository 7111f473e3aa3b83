// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/trial_conversion.hpp"

#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <string>

#include "tests/tune/scale.hpp"

namespace trial_conversion_test {

using tune::outcome;
using tune::stored_trial;

tune::search_problem sample_problem() {
  const auto space = sample::make_space();
  return {.space = space.core(),
          .configuration = [space](std::size_t i) { return tune::to_values(space[i]); },
          .needs = {},
          .generate = {}};
}

tune::trial measured() {
  tune::trial made;
  made.index = 3;  // wgs 2, rows 2
  made.configuration = sample_problem().configuration(3);
  made.outcome = outcome::measured;
  made.samples = tune::samples({tune::run_time(3), tune::run_time(1), tune::run_time(2)});
  made.score = tune::run_time(2);
  made.bounds = {tune::run_time(1), tune::run_time(3)};
  made.preparation = std::chrono::nanoseconds(77);
  made.programs = {"a", "b"};
  made.level = 1.25;
  return made;
}

TEST_CASE("a trial comes back from what is stored of it") {
  const auto back = tune::from_stored(tune::to_stored(measured()), sample_problem());
  REQUIRE(back);
  CHECK(back->index == 3);
  CHECK(back->configuration == measured().configuration);
  CHECK(back->outcome == outcome::measured);
  CHECK(back->score == tune::run_time(2));
  CHECK(back->bounds == measured().bounds);
  CHECK(back->samples.size() == 3);
  CHECK(back->preparation == std::chrono::nanoseconds(77));
  CHECK(back->programs == measured().programs);
  CHECK(back->level == 1.25);
  CHECK(back->origin == tune::trial_origin::resumed);
}

TEST_CASE("a failure comes back with its reason") {
  tune::trial failed = measured();
  failed.outcome = outcome::wrong_result;
  failed.reason = "3 of 4 differ";
  failed.score.reset();
  failed.samples = {};
  const auto back = tune::from_stored(tune::to_stored(failed), sample_problem());
  REQUIRE(back);
  CHECK(back->outcome == outcome::wrong_result);
  CHECK(back->reason == "3 of 4 differ");
  CHECK_FALSE(back->score);
}

TEST_CASE("whether a trial was only remembered is stored") {
  tune::trial known = measured();
  CHECK_FALSE(tune::to_stored(known).remembered);
  known.origin = tune::trial_origin::cached;
  CHECK(tune::to_stored(known).remembered);
}

TEST_CASE("what does not fit the space, or contradicts itself, is not taken over") {
  stored_trial stored = tune::to_stored(measured());
  SUBCASE("a value that is no candidate") { stored.configuration[0].value = std::int64_t{3}; }
  SUBCASE("a value of another type") { stored.configuration[0].value = std::uint64_t{2}; }
  SUBCASE("a missing field") { stored.configuration.pop_back(); }
  SUBCASE("a field too many") { stored.configuration.push_back({"x", true}); }
  SUBCASE("an unknown outcome") { stored.outcome = "crashed"; }
  SUBCASE("measured without samples") { stored.samples_ns.clear(); }
  SUBCASE("a time that is not a number") { stored.samples_ns[0] = std::nan(""); }
  SUBCASE("an infinite time") { stored.samples_ns[0] = std::numeric_limits<double>::infinity(); }
  SUBCASE("a time of zero") { stored.samples_ns[0] = 0; }
  SUBCASE("failed and yet with samples") { stored.outcome = "skipped"; }
  CHECK_FALSE(tune::from_stored(stored, sample_problem()));
}

TEST_CASE("the score is that of the samples, whatever was stored") {
  stored_trial stored = tune::to_stored(measured());
  stored.score_ns = 0.001;
  CHECK(tune::from_stored(stored, sample_problem())->score == tune::run_time(2));
}

TEST_CASE("failures are known by their last program, else by their configuration") {
  const auto known = tune::to_known_failures(
      {{.outcome = "compile failed", .message = "one", .programs = {"a", "b"}},
       {.configuration = {{"wgs", std::int64_t{2}}}, .outcome = "compile failed", .message = "two"},
       {.outcome = "compile failed", .message = "three", .programs = {"c", "?"}}});
  REQUIRE(known.programs.size() == 1);
  CHECK(known.programs.at("b") == "one");
  REQUIRE(known.configurations.size() == 1);
  CHECK(known.configurations.begin()->second == "two");
}

}  // namespace trial_conversion_test
