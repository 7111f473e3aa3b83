// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/search_loop.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "libtune/testing/fake_device.hpp"
#include "libtune/tune/error.hpp"
#include "tests/tune/fake_compile_service.hpp"
#include "tests/tune/scale.hpp"

namespace search_loop_test {

/// A space of one parameter, x = 0 ... n - 1, whose scores are given.
struct scored_space {
  explicit scored_space(std::vector<double> given) : seconds(std::move(given)) {}

  tune::search_problem problem() const {
    std::vector<tune::value> candidates;
    for (std::size_t i = 0; i < seconds.size(); ++i) {
      candidates.emplace_back(static_cast<std::int64_t>(i));
    }
    const tune::search_space space({{"x", candidates}});
    return {.space = space,
            .configuration = [space](std::size_t i) { return space.values(i); },
            .needs = [](std::size_t) { return std::nullopt; },
            .generate = [this](std::size_t i) -> tune::measure {
              if (seconds[i] == throws) throw std::runtime_error("no");
              if (seconds[i] == skips) return nullptr;
              return tune::make_measure([s = seconds[i]](int) { return s; });
            }};
  }

  tune::trial search(const tune::tuning_options& options = {},
                     const tune::prior_knowledge& known = {},
                     const std::vector<std::size_t>& shortlist = {}) const {
    const tune::testing::fake_device fake;
    sample::fake_compile_service nowhere(0);
    nowhere.missing = missing;
    return tune::run_search(
        problem(), {}, fake.device(), options, options.observers, fake.clock(), nowhere,
        [&] { return known; }, shortlist);
  }

  std::string missing = {};  ///< why there are no helpers
  static constexpr double throws = 1e99;
  static constexpr double skips = 1e98;
  std::vector<double> seconds;
};

/// Writes down what it hears.
struct listener final : tune::observer {
  void search_started(const tune::search_started_event& event) override {
    heard += "started " + std::to_string(event.planned) + ";";
  }
  void trial_taken_over(const tune::tuning_subject&, const tune::trial& taken) override {
    heard += "taken " + tune::to_string(taken.configuration) + ";";
  }
  void trial_finished(const tune::tuning_subject&, const tune::trial& finished) override {
    if (finished.origin == tune::trial_origin::cached) heard += "remembered ";
    heard += tune::to_string(finished.configuration) + ";";
  }
  void search_finished(const tune::search_finished_event& event) override {
    heard += "best " + (event.best ? std::to_string(*event.best) : "none") + ";";
  }
  std::string heard;
};

struct doubter final : tune::observer {
  void search_finished(const tune::search_finished_event& event) override { doubts = event.doubts; }
  std::vector<std::string> doubts;
};

struct thrower final : tune::observer {
  void trial_finished(const tune::tuning_subject&, const tune::trial&) override {
    throw std::runtime_error("an observer's bug");
  }
};

tune::stored_trial measured(std::int64_t x, double seconds) {
  return {.configuration = {{"x", x}},
          .outcome = "measured",
          .samples_ns = {seconds * 1e9},
          .score_ns = seconds * 1e9};
}

tune::stored_trial failed(std::int64_t x, const std::string& outcome) {
  return {.configuration = {{"x", x}}, .outcome = outcome, .message = "of then"};
}

/// What is heard of a search of which something is known.
std::string heard_of(const std::vector<double>& seconds, const tune::prior_knowledge& known,
                     tune::tuning_options options = {},
                     const std::vector<std::size_t>& shortlist = {}) {
  const auto hears = std::make_shared<listener>();
  options.observers = {hears};
  try {
    scored_space(seconds).search(options, known, shortlist);
  } catch (const tune::tuning_failed_error&) {
    hears->heard += "failed";
  }
  return hears->heard;
}

TEST_CASE("the least time wins, wherever it stands") {
  CHECK(scored_space({3e-6, 1e-6, 2e-6}).search().index == 1);
  CHECK(scored_space({1e-6, 3e-6, 2e-6}).search().index == 0);
  CHECK(scored_space({3e-6, 2e-6, 1e-6}).search().index == 2);
}

TEST_CASE("of equal times the earlier configuration wins, in whatever order they are tried") {
  const scored_space space({2e-6, 1e-6, 1e-6, 1e-6});
  CHECK(space.search().index == 1);
  tune::tuning_options random{.strategy = "random"};
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    random.search.seed = seed;
    CHECK(space.search(random).index == 1);
  }
}

TEST_CASE("a time that cannot be true does not win at any position") {
  for (const double bad : {std::numeric_limits<double>::quiet_NaN(), 0.0, -1.0,
                           -std::numeric_limits<double>::infinity()}) {
    for (std::size_t position = 0; position < 3; ++position) {
      std::vector<double> seconds{2e-6, 2e-6, 2e-6};
      seconds[position] = bad;
      seconds[(position + 1) % 3] = 1e-6;
      CHECK(scored_space(seconds).search().index == (position + 1) % 3);
    }
  }
}

TEST_CASE("what fails for one configuration never ends the search") {
  const scored_space space(
      {scored_space::throws, 2e-6, scored_space::skips, 1e-6, scored_space::throws});
  CHECK(space.search().index == 3);
}

TEST_CASE("if all fail one error carries every reason") {
  try {
    scored_space({scored_space::throws, scored_space::skips}).search();
    FAIL("found a best");
  } catch (const tune::tuning_failed_error& failure) {
    REQUIRE(failure.trials().size() == 2);
    CHECK(failure.trials()[0].outcome == tune::outcome::failed);
    CHECK(failure.trials()[0].reason == "no");
    CHECK(failure.trials()[1].outcome == tune::outcome::skipped);
  }
}

TEST_CASE("an empty space is an error of its own") {
  const tune::testing::fake_device fake;
  tune::search_problem problem = scored_space({1e-6}).problem();
  problem.space = tune::search_space(
      {{"x", {std::int64_t{0}}}}, {{.description = "never", .allows = [](auto) { return false; }}});
  sample::fake_compile_service nowhere(0);
  CHECK_THROWS_WITH_AS(tune::run_search(problem, {}, fake.device(), {}, {}, fake.clock(), nowhere),
                       doctest::Contains("1 x never"), tune::empty_space_error);
}

TEST_CASE("observers hear everything in order") {
  const auto hears = std::make_shared<listener>();
  scored_space({2e-6, 1e-6}).search({.observers = {hears}});
  CHECK(hears->heard == "started 2;x=0;x=1;best 1;");
  const auto hears_failure = std::make_shared<listener>();
  CHECK_THROWS(scored_space({scored_space::skips}).search({.observers = {hears_failure}}));
  CHECK(hears_failure->heard == "started 1;x=0;best none;");
}

TEST_CASE("an observer that throws harms neither the search nor the others") {
  const auto hears = std::make_shared<listener>();
  const scored_space space({2e-6, 1e-6});
  CHECK(space.search({.observers = {std::make_shared<thrower>(), hears}}).index == 1);
  CHECK(hears->heard == "started 2;x=0;x=1;best 1;");
}

TEST_CASE("a strategy's limit is kept") {
  const auto hears = std::make_shared<listener>();
  tune::tuning_options options{.strategy = "random", .observers = {hears}};
  options.search.max_count = 1;
  scored_space({2e-6, 1e-6, 3e-6}).search(options);
  CHECK(hears->heard.find("started 1;") == 0);
}

TEST_CASE("an unknown strategy is an error that lists the known ones") {
  CHECK_THROWS_WITH_AS(scored_space({1e-6}).search({.strategy = "magic"}),
                       doctest::Contains("exhaustive"), tune::argument_error);
}

TEST_CASE("a search takes over what an unfinished one has tried, and tries the rest") {
  const tune::prior_knowledge known{.unfinished = {measured(2, 1e-6), failed(0, "launch failed")},
                                    .compile_failures = {}};
  CHECK(heard_of({2e-6, 3e-6, 1e-6, 4e-6}, known) ==
        "started 4;taken x=2;taken x=0;x=1;x=3;best 0;");
  // Both kinds of trials can win, by what they take now.
  CHECK(scored_space({2e-6, 3e-6, 1e-6, 4e-6}).search({}, known).index == 2);
  CHECK(scored_space({2e-6, 3e-6, 5e-6, 5e-7}).search({}, known).index == 3);
}

TEST_CASE("a search of which everything is known tries nothing new, and compares the best again") {
  const tune::prior_knowledge known{.unfinished = {measured(1, 1e-6), measured(0, 1.02e-6)},
                                    .compile_failures = {}};
  CHECK(heard_of({9.2e-6, 9e-6}, known) == "started 2;taken x=1;taken x=0;best 0;");
  CHECK(heard_of({8.8e-6, 9e-6}, known) == "started 2;taken x=1;taken x=0;best 1;");
}

TEST_CASE("what was measured before and does not work any more does not win") {
  const tune::prior_knowledge known{.unfinished = {measured(1, 1e-6), measured(0, 2e-6)},
                                    .compile_failures = {}};
  CHECK(heard_of({3e-6, scored_space::throws}, known) == "started 2;taken x=1;taken x=0;best 1;");
}

TEST_CASE("what was tried twice is taken over once, as it was the last time") {
  CHECK(heard_of({1e-6}, {.unfinished = {failed(0, "compile failed"), measured(0, 2e-6)},
                          .compile_failures = {}}) == "started 1;taken x=0;best 0;");
}

TEST_CASE("trials of configurations that the space does not have are left") {
  CHECK(heard_of({1e-6}, {.unfinished = {measured(7, 1e-9)}, .compile_failures = {}}) ==
        "started 1;x=0;best 0;");
}

TEST_CASE("of a list alone what is on it is taken over, and all of it is tried") {
  const tune::prior_knowledge known{
      .unfinished = {measured(0, 1e-9), measured(3, 2e-6), measured(2, 1e-9)},
      .compile_failures = {}};
  CHECK(heard_of({1e-6, 1e-6, 1e-6, 1e-6}, known, {}, {1, 3}) == "started 2;taken x=3;x=1;best 1;");
}

TEST_CASE("a limit counts what was taken over, for every strategy and seed") {
  const std::vector<double> seconds(10, 1e-6);
  const tune::prior_knowledge known{.unfinished = {measured(8, 1e-6), measured(9, 1e-6)},
                                    .compile_failures = {}};
  for (const char* strategy : {"exhaustive", "random"}) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
      tune::tuning_options options{.strategy = strategy};
      options.search = {.seed = seed, .max_count = 5};
      const std::string heard = heard_of(seconds, known, options);
      CHECK(std::count(heard.begin(), heard.end(), 'x') == 5);
      options.search.max_count = 1;
      CHECK(heard_of(seconds, known, options) == "started 2;taken x=8;taken x=9;best 0;");
    }
  }
}

TEST_CASE("what is known not to compile is not tried, and says why") {
  const tune::prior_knowledge known{.unfinished = {},
                                    .compile_failures = {failed(0, "compile failed")}};
  CHECK(heard_of({1e-6, 2e-6}, known) == "started 2;remembered x=0;x=1;best 1;");
}

TEST_CASE("if nothing else works, what was known not to compile is tried after all") {
  const tune::prior_knowledge known{
      .unfinished = {},
      .compile_failures = {failed(0, "compile failed"), failed(2, "compile failed")}};
  CHECK(heard_of({1e-6, scored_space::skips, scored_space::throws}, known) ==
        "started 3;remembered x=0;x=1;remembered x=2;x=0;x=2;best 0;");
  CHECK(heard_of({scored_space::throws, scored_space::skips, scored_space::throws}, known) ==
        "started 3;remembered x=0;x=1;remembered x=2;x=0;x=2;best none;failed");
}

TEST_CASE("that helpers are missing is part of what a search reports") {
  const auto listener = std::make_shared<doubter>();
  scored_space space({3, 1, 2});
  space.search({.observers = {listener}});
  CHECK(listener->doubts.empty());
  space.missing = "there is no libtune-worker";
  space.search({.observers = {listener}});
  REQUIRE(listener->doubts.size() == 1);
  CHECK(listener->doubts[0].ends_with("there is no libtune-worker"));
}

}  // namespace search_loop_test
