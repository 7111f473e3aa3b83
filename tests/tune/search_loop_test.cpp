// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/search_loop.hpp"

#include <algorithm>
#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "libtune/testing/fake_device.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/tune/session.hpp"
#include "tests/tune/fake_compile_service.hpp"
#include "tests/tune/scale.hpp"

namespace search_loop_test {

using tune::at_least;
using tune::at_most;
using tune::maximise;
using tune::metric_value;
using tune::minimise;
using tune::outcome;
using tune::trial;

/// A space of one parameter, x = 0 ... n - 1, whose scores are given.
struct scored_space {
  explicit scored_space(std::vector<double> given) : seconds(std::move(given)) {}

  tune::search_problem problem() const {
    return sample::numbered_problem(seconds.size(), [this](std::size_t i) -> tune::measure {
      if (seconds[i] == throws) throw std::runtime_error("no");
      if (seconds[i] == skips) return nullptr;
      return tune::make_measure([s = seconds[i]](int) { return s; });
    });
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

/// The events of a search with prior knowledge.
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

TEST_CASE("what earlier searches have tried is taken over, and the rest is tried") {
  constexpr double throws = scored_space::throws;
  constexpr double skips = scored_space::skips;
  const auto is_heard = [](const char* expected, const std::vector<double>& seconds,
                           std::vector<tune::stored_trial> unfinished,
                           std::vector<tune::stored_trial> compile_failures = {}) {
    CHECK(heard_of(seconds, {.unfinished = std::move(unfinished),
                             .compile_failures = std::move(compile_failures)}) == expected);
  };
  is_heard("started 4;taken x=2;taken x=0;x=1;x=3;best 0;", {2e-6, 3e-6, 1e-6, 4e-6},
           {measured(2, 1e-6), failed(0, "launch failed")});
  // All is known: the best are compared again, and win by their present times.
  const std::vector both{measured(1, 1e-6), measured(0, 1.02e-6)};
  is_heard("started 2;taken x=1;taken x=0;best 0;", {9.2e-6, 9e-6}, both);
  is_heard("started 2;taken x=1;taken x=0;best 1;", {8.8e-6, 9e-6}, both);
  is_heard("started 2;taken x=1;taken x=0;best 1;", {3e-6, throws}, both);
  // The last trial of a configuration counts.
  is_heard("started 1;taken x=0;best 0;", {1e-6}, {failed(0, "compile failed"), measured(0, 2e-6)});
  // The space lacks this configuration.
  is_heard("started 1;x=0;best 0;", {1e-6}, {measured(7, 1e-9)});
  is_heard("started 2;remembered x=0;x=1;best 1;", {1e-6, 2e-6}, {}, {failed(0, "compile failed")});
  // Nothing else works: known failures of the compiler are tried after all.
  const std::vector ends{failed(0, "compile failed"), failed(2, "compile failed")};
  const std::string all = "started 3;remembered x=0;x=1;remembered x=2;x=0;x=2;best ";
  is_heard((all + "0;").c_str(), {1e-6, skips, throws}, {}, ends);
  is_heard((all + "none;failed").c_str(), {throws, skips, throws}, {}, ends);
}

TEST_CASE("of a list alone what is on it is taken over, and all of it is tried") {
  const tune::prior_knowledge known{
      .unfinished = {measured(0, 1e-9), measured(3, 2e-6), measured(2, 1e-9)},
      .compile_failures = {}};
  CHECK(heard_of({1e-6, 1e-6, 1e-6, 1e-6}, known, {}, {1, 3}) == "started 2;taken x=3;x=1;best 1;");
}

TEST_CASE("trials taken over and new ones can win, by what they take now") {
  const tune::prior_knowledge known{.unfinished = {measured(2, 1e-6), failed(0, "launch failed")},
                                    .compile_failures = {}};
  CHECK(scored_space({2e-6, 3e-6, 1e-6, 4e-6}).search({}, known).index == 2);
  CHECK(scored_space({2e-6, 3e-6, 5e-6, 5e-7}).search({}, known).index == 3);
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

// Searches for other goals than the least time, on the fake device.

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();

/// x = 0 ... n - 1, whose times are given; and what a search of it has found.
struct bench {
  explicit bench(std::vector<double> times_us) : us(std::move(times_us)) {}

  trial search(tune::tuning_goal goal, tune::tuning_options options = {}) {
    tune::search_problem problem = sample::numbered_problem(us.size(), [this](std::size_t i) {
      return tune::make_measure([this, i](int count) {
               runs += static_cast<std::size_t>(count);
               return run ? run(i) : us[i] * 1e-6;
             })
          .work({.flops = i < flops.size() ? flops[i] : 0});
    });
    problem.metrics = metrics;
    const tune::testing::fake_device fake;
    sample::fake_compile_service nowhere(0);
    const auto hears = std::make_shared<listener>();
    options.goal = std::move(goal);
    options.observers = {hears};
    const auto end = [&] { finished = hears->finished; };
    try {
      trial best = tune::run_search(problem, {}, fake.device(), options, options.observers,
                                    fake.clock(), nowhere);
      end();
      return best;
    } catch (...) {
      end();
      throw;
    }
  }
  const trial& of(std::size_t index) const {
    return *std::ranges::find(finished.trials, index, &trial::index);
  }
  /// A metric whose values are given for each x.
  static tune::computed_metric given(std::string name, std::vector<double> values) {
    return {.name = std::move(name),
            .compute = [values](const trial& item) { return values.at(item.index); },
            .unit = "W"};
  }

  struct listener final : tune::observer {
    void search_finished(const tune::search_finished_event& event) override { finished = event; }
    tune::search_finished_event finished;
  };

  std::vector<double> us;
  std::vector<double> flops;
  std::function<double(std::size_t)> run;  // seconds
  tune::metric_sources metrics;
  std::size_t runs = 0;
  tune::search_finished_event finished;
};

TEST_CASE("declared work becomes throughput, which may be maximised") {
  bench one({4, 2, 3});
  one.flops = {1e6, 1e5, 2e6};
  CHECK(one.search({}).index == 1);
  CHECK(metric_value(one.of(0), "flops") == 1e6);
  CHECK(metric_value(one.of(0), "gflops") == doctest::Approx(250));
  CHECK(tune::find_metric(one.of(0).metrics, "gflops")->unit == "GFLOP/s");
  CHECK(tune::find_metric(one.of(0).metrics, "gbs") == nullptr);
  CHECK(one.search({.objectives = {maximise("gflops")}}).index == 2);
  CHECK(to_string(one.finished.goal) == "max gflops");
}

TEST_CASE("metrics are computed in order, from those before them") {
  bench one({2, 1});
  one.metrics.computed = {
      {"twice", [](const trial& t) { return 2 * metric_value(t, "time"); }},
      {"four_times", [](const trial& t) { return 2 * metric_value(t, "twice"); }, "ns"}};
  CHECK(metric_value(one.search({}), "four_times") == doctest::Approx(4000));
  CHECK(one.search({.objectives = {maximise("four_times")}}).index == 0);
}

TEST_CASE("a search for the least time runs as often with metrics as without") {
  const std::vector<double> times{5, 3, 4, 3.01, 8, 2.99, 7, 6};
  bench plain(times);
  plain.search({});
  bench with(times);
  with.metrics.computed = {bench::given("power", {1, 2, 3, 4, 5, 6, 7, 8})};
  with.search({.objectives = {minimise("time")}});
  CHECK(with.runs == plain.runs);
  CHECK(with.finished.best == plain.finished.best);
}

TEST_CASE("a figure that does not depend on the time is minimised exactly") {
  bench one({1, 2, 3, 4});
  one.metrics.computed = {bench::given("registers", {64, 33, 32, 40})};
  const trial best = one.search({.objectives = {minimise("registers")}});
  CHECK(best.index == 2);
  CHECK(best.score == tune::run_time(3000));
  one.metrics.computed = {bench::given("registers", {0, -1, 5, 3})};
  CHECK(one.search({.objectives = {minimise("registers")}}).index == 1);
  one.metrics.computed = {bench::given("registers", {2, 1, 0, 3})};
  CHECK(one.search({.objectives = {minimise("registers")}}).index == 2);
}

TEST_CASE("of those that are tied by the first objective the best by the next wins") {
  bench one({3, 5, 2, 1});
  one.metrics.computed = {bench::given("registers", {32, 32, 32, 64})};
  CHECK(one.search({.objectives = {minimise("registers"), minimise("time")}}).index == 2);
  CHECK(one.search({.objectives = {minimise("registers"), maximise("time")}}).index == 1);
  const auto front = tune::pareto_front(one.finished.goal, one.finished.trials);
  REQUIRE(front.size() == 1);
  CHECK(one.finished.trials[front[0]].index == 1);
}

TEST_CASE("a configuration that breaks a constraint never wins, and the search goes on") {
  bench one({1, 2, 3, 4});
  one.metrics.computed = {bench::given("power", {120, 101, 100, 50})};
  CHECK(one.search({.constraints = {at_most("power", 100)}}).index == 2);
  CHECK(one.finished.trials.size() == 4);
  CHECK(one.of(0).outcome == outcome::unfit);
  CHECK(one.of(0).reason == "its power is 120 W; 100 or less is asked for");
  CHECK_FALSE(one.of(0).score);
  CHECK(one.of(0).samples.size() > 0);
  CHECK(one.search({.constraints = {at_least("power", 60), at_most("power", 110)}}).index == 1);
  CHECK_THROWS_WITH_AS(one.search({.constraints = {at_most("power", 10)}}),
                       doctest::Contains("10 or less is asked for"), tune::tuning_failed_error);
}

TEST_CASE("a constraint on the time itself is one, too") {
  bench one({1, 2, 3, 4});
  one.metrics.computed = {bench::given("power", {120, 101, 90, 50})};
  CHECK(one.search({.objectives = {minimise("power")}, .constraints = {at_most("time", 3500)}})
            .index == 2);
}

TEST_CASE("a value that is not known does not win, at any position") {
  for (std::size_t bad = 0; bad < 3; ++bad) {
    std::vector<double> power{3, 2, 4};
    power[bad] = unknown;
    bench one({1, 1, 1});
    one.metrics.computed = {bench::given("power", power)};
    CAPTURE(bad);
    CHECK(one.search({.objectives = {minimise("power")}}).index == (bad == 1 ? 0 : 1));
    CHECK(one.of(bad).outcome == outcome::unfit);
  }
}

TEST_CASE("a metric whose function throws is unknown, the trial says so, the search goes on") {
  bench one({1, 2});
  one.metrics.computed = {{"odd", [](const trial& item) -> double {
                             if (item.index == 0) throw std::runtime_error("no meter");
                             return 1;
                           }}};
  CHECK(one.search({}).index == 0);
  CHECK(one.of(0).outcome == outcome::measured);
  CHECK(one.of(0).reason == "its metric 'odd' failed: no meter");
  CHECK(std::isnan(metric_value(one.of(0), "odd")));
  REQUIRE(one.finished.doubts.size() == 1);
  CHECK(one.finished.doubts[0].find("no meter") != std::string::npos);
  CHECK(one.search({.objectives = {minimise("odd")}}).index == 1);
}

TEST_CASE("a goal that names no metric fails with the name") {
  bench one({1, 2});
  CHECK_THROWS_WITH_AS(one.search({.constraints = {at_most("pover", 3)}}),
                       doctest::Contains("pover"), tune::tuning_failed_error);
  CHECK_THROWS_WITH_AS(one.search({.objectives = {minimise("time"), minimise("enrgy")}}),
                       doctest::Contains("enrgy"), tune::tuning_failed_error);
  CHECK_THROWS_WITH_AS(one.search({.objectives = {minimise("enery")}}), doctest::Contains("enery"),
                       tune::tuning_failed_error);
}

TEST_CASE("a percentile is decided by many samples of the finalists") {
  // The first is faster, but every tenth run of it takes five times as long.
  bench one({1, 1.5, 4});
  std::map<std::size_t, int> count;
  one.run = [&](std::size_t i) {
    return one.us[i] * 1e-6 * (i == 0 && ++count[i] % 10 == 0 ? 5 : 1);
  };
  CHECK(one.search({}).index == 0);
  const trial best = one.search({.objectives = {minimise("p99")}});
  CHECK(best.index == 1);
  CHECK(metric_value(best, "p99") == doctest::Approx(1500));
  CHECK(best.samples.size() >= 100);
  CHECK(metric_value(one.of(0), "p99") == doctest::Approx(5000));
}

/// Gives finalists an energy, and counts what it sees.
struct meter final : tune::probe {
  explicit meter(std::vector<double> joules) : energy(std::move(joules)) {}

  void before_compile(const trial&) override { ++before; }
  void after_compile(trial& of) override {
    tune::set_metric(of.metrics, {"registers", 10.0 * static_cast<double>(of.index)});
  }
  void before_runs(const trial&, int runs) override { announced += static_cast<std::size_t>(runs); }
  void after_runs(trial& of, std::span<const tune::run_time> times) override {
    seen += times.size();
    if (throws && of.index == 1) throw std::runtime_error("no reading");
    tune::set_metric(of.metrics, {"readings", static_cast<double>(++readings[of.index])});
  }
  void compare(std::span<const tune::finalist> finalists) override {
    sizes.push_back(finalists.size());
    for (const tune::finalist& one : finalists) {
      CHECK(one.run(3).size() == 1);  // it times itself
      one.add({"energy", energy.at(one.result.index), "J"});
    }
  }
  std::vector<std::string> finalist_metrics() const override { return {"energy"}; }

  std::vector<double> energy;
  bool throws = false;
  std::size_t before = 0;
  std::size_t announced = 0;
  std::size_t seen = 0;
  std::map<std::size_t, int> readings;
  std::vector<std::size_t> sizes;
};

TEST_CASE("a probe sees compiling and runs, and adds values") {
  bench one({2, 1, 3});
  const auto watches = std::make_shared<meter>(std::vector<double>{1, 2, 3});
  one.metrics.probes = {watches};
  const trial best = one.search({});
  CHECK(best.index == 1);
  CHECK(watches->before >= 3);
  CHECK(watches->announced >= watches->seen);
  CHECK(watches->seen > 0);
  CHECK(metric_value(one.of(2), "registers") == 20);
  CHECK(metric_value(best, "readings") >= 1);
  CHECK(metric_value(best, "energy") == 2);
  CHECK(one.search({.constraints = {at_most("registers", 5)}}).index == 0);
  CHECK(one.of(1).samples.size() == 0);  // it was not even run
}

TEST_CASE("what a probe throws is told with the trial, and changes nothing else") {
  bench one({2, 1, 3});
  const auto watches = std::make_shared<meter>(std::vector<double>{1, 2, 3});
  watches->throws = true;
  one.metrics.probes = {watches};
  CHECK(one.search({}).index == 1);
  CHECK(one.of(1).reason == "a probe failed: no reading");
  CHECK(one.of(0).reason.empty());
}

TEST_CASE("what is measured of finalists alone decides among them") {
  std::vector<double> times;
  std::vector<double> joules;
  for (int i = 0; i < 40; ++i) {
    times.push_back(1 + 0.1 * i);
    joules.push_back(40 - i);
  }
  bench one(times);
  const auto watches = std::make_shared<meter>(joules);
  one.metrics.probes = {watches};
  const trial best = one.search({.objectives = {minimise("energy")}});
  CHECK(watches->sizes == std::vector<std::size_t>{16});
  CHECK(best.index == 15);
  CHECK(metric_value(best, "energy") == 25);
  CHECK_FALSE(tune::find_metric(one.of(20).metrics, "energy"));
  // None of the first sixteen keeps the bound, so that the next ones are compared.
  CHECK(one.search({.constraints = {at_most("energy", 22)}}).index == 18);
  CHECK(one.of(0).outcome == outcome::unfit);
  CHECK(watches->sizes == std::vector<std::size_t>{16, 16, 16});
}

TEST_CASE("a metric of finalists may be computed from others of theirs") {
  bench one({1, 2, 3});
  one.metrics.probes = {std::make_shared<meter>(std::vector<double>{9, 4, 8})};
  one.metrics.computed = {{.name = "per_joule",
                           .compute = [](const trial& t) { return 1 / metric_value(t, "energy"); },
                           .unit = "1/J",
                           .finalists = true}};
  CHECK(one.search({.objectives = {maximise("per_joule")}}).index == 1);
}

TEST_CASE("strategies are told what the goal makes of a trial") {
  // Over a large space the model finds the one by its power, not by its time.
  std::vector<double> times;
  std::vector<double> power;
  for (int i = 0; i < 300; ++i) {
    times.push_back(1 + i % 7);
    power.push_back(20 + std::abs(i - 211));
  }
  bench one(times);
  one.metrics.computed = {bench::given("power", power)};
  const trial best = one.search({.objectives = {minimise("power")}},
                                {.strategy = "model", .search = {.max_count = 60}});
  CHECK(one.finished.trials.size() <= 60);
  CHECK(std::abs(static_cast<int>(best.index) - 211) <= 2);
}

TEST_CASE("a target of time does not end a search for something else") {
  bench one({1, 2, 3});
  one.metrics.computed = {bench::given("power", {3, 2, 1})};
  tune::tuning_options options;
  options.budget = tune::tuning_budget{.target = tune::run_time(5000)};
  CHECK(one.search({.objectives = {minimise("power")}}, options).index == 2);
  CHECK(one.search({}, options).index == 0);
}

TEST_CASE("two sources of one metric are an error that names it") {
  bench one({1});
  one.metrics.computed = {bench::given("power", {3})};
  tune::tuning_options options;
  options.metrics.computed = {bench::given("power", {3})};
  CHECK_THROWS_WITH_AS(one.search({}, options), doctest::Contains("'power'"), tune::argument_error);
}

struct made_session {
  tune::testing::fake_device fake = sample::make_device();
  tune::tuning_session session{
      tune::detail::session_setup{.context = fake.device().create_context(), .now = fake.clock()}};
};

TEST_CASE("a session finds the fastest configuration of a typed space") {
  made_session made;
  const auto best = made.session.tune(sample::make_space(), [&](const sample::scale_tuning& t) {
    return sample::generate(made.session.context(), t);
  });
  CHECK(best == sample::fastest);
  CHECK(made.session.best_score() == tune::run_time(2010));
}

TEST_CASE("katsdpsigproc's example: all combinations are tried and the least product wins") {
  made_session made;
  tune::space<sample::scale_tuning> space;
  space.add(&sample::scale_tuning::wgs, {1, 2});
  space.add(&sample::scale_tuning::rows, {7, 3});
  std::string tried;
  const auto best = made.session.tune(space, [&](const sample::scale_tuning& t) {
    tried += std::to_string(t.wgs) + std::to_string(t.rows) + " ";
    return tune::make_measure([product = t.wgs * t.rows](int) { return product * 1e-6; });
  });
  CHECK(tried == "17 13 27 23 ");
  CHECK(best == sample::scale_tuning{.wgs = 1, .rows = 3});
}

TEST_CASE("generate may skip by returning null, and members outside the space keep their default") {
  made_session made;
  tune::space<sample::scale_tuning> space;
  space.add(&sample::scale_tuning::wgs, {1, 2, 4});
  const auto best = made.session.tune(space, [&](const sample::scale_tuning& t) -> tune::measure {
    if (t.wgs == 1) return nullptr;
    return sample::generate(made.session.context(), t);
  });
  CHECK(best == sample::scale_tuning{.wgs = 2, .rows = 1});
}

TEST_CASE("a declared need over the device's limit is skipped without being generated") {
  made_session made;
  tune::space<sample::scale_tuning> space;
  space.add(&sample::scale_tuning::wgs, {2048, 8});
  space.needs([](const sample::scale_tuning& t) {
    return tune::resources{.work_group = {static_cast<std::size_t>(t.wgs), 1, 1}};
  });
  int generated = 0;
  const auto best = made.session.tune(space, [&](const sample::scale_tuning& t) {
    ++generated;
    return sample::generate(made.session.context(), t);
  });
  CHECK(best.wgs == 8);
  CHECK(generated == 1);
}

TEST_CASE("a session has no score before a search has ended") {
  made_session made;
  CHECK_FALSE(made.session.best_score());
}

}  // namespace search_loop_test
