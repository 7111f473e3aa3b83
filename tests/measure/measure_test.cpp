// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/measure/measure.hpp"

#include <chrono>
#include <cmath>
#include <cstddef>
#include <doctest/doctest.h>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/measure/timing/samples.hpp"
#include "libtune/testing/fake_device.hpp"
#include "tests/measure/simulated_search.hpp"
#include "tests/measure/timed_queue.hpp"

namespace measure_test {

using namespace std::chrono_literals;
using tune::confidence_interval;
using tune::interval;
using tune::measure;
using tune::run_time;
using tune::samples;

static_assert(std::is_nothrow_move_constructible_v<measure>);
static_assert(!std::is_copy_constructible_v<measure>);

TEST_CASE("nullptr is a configuration that is skipped, and nothing can be done with it") {
  const auto generate = [](bool skip) -> measure {
    if (skip) return nullptr;
    return tune::make_measure([](int) { return 1.0; });
  };
  CHECK(generate(false));
  measure skipped = generate(true);
  CHECK_FALSE(skipped);
  CHECK_THROWS_AS(skipped.run(), tune::argument_error);
  CHECK_THROWS_AS(skipped.sample(1), tune::argument_error);
  CHECK_THROWS_AS(tune::take_samples(skipped), tune::argument_error);
  CHECK_THROWS_AS(skipped.run_checked(), tune::argument_error);
  CHECK_THROWS_AS(skipped.cache(tune::cache_state::cold), tune::argument_error);
  CHECK_THROWS_AS(skipped.timer_resolution(), tune::argument_error);
  CHECK_THROWS_AS(skipped.check([] { return std::nullopt; }), tune::argument_error);
  CHECK_THROWS_AS(skipped.reset([] {}), tune::argument_error);
}

TEST_CASE("a lambda that skips need not name its type") {
  const auto generate = [](int wgs) {
    if (wgs > 64) return measure::skipped();
    if (wgs > 32) return measure::skipped("it is too large");
    return tune::make_measure([](int) { return 1.0; });
  };
  CHECK(generate(32));
  CHECK(generate(64).why_skipped() == "it is too large");
  CHECK(generate(128).why_skipped() == measure(nullptr).why_skipped());
}

TEST_CASE("a function that times itself gives one sample, the mean over the iterations") {
  std::vector<int> calls;
  measure measured = tune::make_measure([&](int iterations) {
    calls.push_back(iterations);
    return 2.5e-6;
  });
  measured.run();
  CHECK(measured.sample(20) == std::vector<run_time>{run_time(2500)});
  CHECK(calls == std::vector{1, 20});
}

TEST_CASE("the check is called by run_checked alone, after a run, and what it says comes back") {
  std::optional<std::string> mismatch;
  std::string story;
  measure measured = tune::make_measure([&](int) {
                       story += "run ";
                       return 1.0;
                     }).check([&] {
    story += "check ";
    return mismatch;
  });
  measured.run();
  CHECK(story == "run ");
  CHECK_FALSE(measured.run_checked());
  mismatch = "element 3 is 5, expected 4";
  CHECK(measured.run_checked() == "element 3 is 5, expected 4");
  CHECK(story == "run run check run check ");
  CHECK_FALSE(tune::make_measure([](int) { return 1.0; }).run_checked());
}

/// Wants three runs, and finds one of them wrong.
class three_runs final : public tune::run_check {
 public:
  three_runs(std::string& story, int wrong) : story_(story), wrong_(wrong) {}
  int runs() const noexcept override { return 3; }
  void prepare(int run) override { story_ += "prepare" + std::to_string(run) + " "; }
  std::optional<std::string> judge(int run) override {
    story_ += "judge" + std::to_string(run) + " ";
    if (run == wrong_) return "wrong";
    return std::nullopt;
  }

 private:
  std::string& story_;
  int wrong_;
};

TEST_CASE("a run check prepares each of its runs before the reset, and ends with what is wrong") {
  std::string story;
  const auto measured_with = [&](int wrong) {
    return tune::make_measure([&](int) {
             story += "run ";
             return 1.0;
           })
        .reset([&] { story += "reset "; })
        .check([&]() -> std::optional<std::string> {
          story += "check";
          return std::nullopt;
        })
        .check_runs(std::make_shared<three_runs>(story, wrong));
  };
  SUBCASE("all are right") {
    CHECK_FALSE(measured_with(-1).run_checked());
    CHECK(story ==
          "prepare0 reset run judge0 prepare1 reset run judge1 prepare2 reset run judge2 check");
  }
  SUBCASE("the second is wrong") {
    CHECK(measured_with(1).run_checked() == "wrong");
    CHECK(story == "prepare0 reset run judge0 prepare1 reset run judge1 ");
  }
  SUBCASE("a reset that was made ahead is made again, for the check has overwritten it") {
    auto measured = measured_with(0);
    measured.prepare();
    CHECK(measured.run_checked() == "wrong");
    CHECK(story == "reset prepare0 reset run judge0 ");
  }
}

TEST_CASE("with several inputs a sample is the mean of the times with each, by the weights") {
  double seconds = 0;
  std::string story;
  const auto with = [&](const char* name, double takes) {
    return [&, name, takes] {
      story += name;
      seconds = takes;
    };
  };
  measure measured = tune::make_measure([&](int) {
                       story += "run ";
                       return seconds;
                     }).reset([&] {
                         story += "reset ";
                       }).over({{with("short ", 1e-6), 1}, {with("long ", 5e-6), 3}});
  CHECK(measured.sample(2) == std::vector<run_time>{run_time(4000)});
  CHECK(story == "short reset run long reset run ");
  CHECK(measured.sample_whole(1) == std::vector<run_time>{run_time(4000)});
  CHECK_THROWS_AS(measured.over({{nullptr, 1}}), tune::argument_error);
  CHECK_THROWS_WITH_AS(measured.over({{with("", 1), 0}}), doctest::Contains("positive weight"),
                       tune::argument_error);
}

TEST_CASE("runs of a check on inputs that are not timed are neither timed nor enough") {
  class second_is_other final : public tune::run_check {
   public:
    explicit second_is_other(std::string& story) : story_(story) {}
    int runs() const noexcept override { return 3; }
    void prepare(int) override {}
    std::optional<std::string> judge(int) override { return std::nullopt; }
    bool is_timed(int run) const noexcept override { return run != 1; }
    void end() override { story_ += "end"; }

   private:
    std::string& story_;
  };
  std::string story;
  measure measured = tune::make_measure([&](int) {
                       story += "run ";
                       return 1.0;
                     }).check_runs(std::make_shared<second_is_other>(story));
  int asked = 0;
  tune::check_steps steps;
  steps.run = [&] { story += "timed "; };
  steps.is_enough = [&] { return ++asked == 3; };
  CHECK_FALSE(measured.run_checked(steps));
  CHECK(story == "timed run timed end");
  CHECK(asked == 2);
  steps.is_enough = [] { return true; };
  story.clear();
  CHECK_FALSE(measured.run_checked(steps));
  CHECK(story == "timed end");
}

TEST_CASE("the reset is called before the first run and before each batch, never during one") {
  std::string story;
  measure measured = tune::make_measure([&](int iterations) {
                       story += std::to_string(iterations) + " ";
                       return 1.0;
                     }).reset([&] { story += "reset "; });
  measured.run();
  measured.sample(3);
  measured.sample(4);
  CHECK(story == "reset 1 reset 3 reset 4 ");
}

TEST_CASE("a reset that is asked for before each run is called between those of a batch, too") {
  std::string story;
  measure measured = tune::make_measure([&](int iterations) {
                       story += std::to_string(iterations) + " ";
                       return 1.0;
                     }).reset([&] { story += "reset "; }, tune::reset_before::run);
  measured.run();
  CHECK(measured.sample(2).size() == 2);
  CHECK(measured.sample(1, 2).size() == 1);
  CHECK(story == "reset 1 reset 1 reset 1 reset 1 reset 1 ");
}

TEST_CASE("a reset that was done in advance is not done again") {
  int resets = 0;
  measure measured = tune::make_measure([](int) { return 1.0; });
  measured.reset([&] { ++resets; });
  measured.prepare();
  measured.prepare();
  measured.sample(1);
  CHECK(resets == 1);
  measured.sample(1);
  CHECK(resets == 2);
}

TEST_CASE("a count of iterations that is not positive is an error") {
  measure measured = tune::make_measure([](int) { return 1.0; });
  CHECK_THROWS_AS(measured.sample(0), tune::argument_error);
  CHECK_THROWS_AS(measured.sample(-1), tune::argument_error);
  CHECK_THROWS_AS(measured.sample(1, 0), tune::argument_error);
}

TEST_CASE("a measure without a function is an error") {
  CHECK_THROWS_AS(tune::make_measure(std::function<double(int)>()), tune::argument_error);
}

TEST_CASE("a measure keeps what it runs alive until it is gone") {
  auto token = std::make_shared<int>(0);
  const std::weak_ptr<int> watched = token;
  {
    measure first = tune::make_measure([token = std::move(token)](int) { return 1.0 + *token; });
    measure second = std::move(first);
    CHECK_FALSE(first);  // NOLINT(bugprone-use-after-move): a moved measure is a skipped one
    CHECK_FALSE(watched.expired());
    CHECK(second.sample(1).front() == 1s);
  }
  CHECK(watched.expired());
}

/// Runs that take both device time and as much wall time.
struct timed_operation {
  explicit timed_operation(tune::testing::fake_device_options options = {})
      : timed(std::move(options)) {}

  tune::testing::timed_queue timed;
  std::chrono::nanoseconds duration = 1ms;
  int runs = 0;

  measure make() {
    return tune::make_measure(timed.queue, [this] {
      ++runs;
      timed.launch(duration);
    });
  }
  tune::samples take(measure& measured, const tune::measure_settings& settings = {}) const {
    return tune::take_samples(measured, settings, timed.device.clock());
  }
};

TEST_CASE("the first timed run plans the others and is no sample itself") {
  for (const auto& [duration, count] : {std::pair(1ms, 100U), std::pair(5000ms, 3U)}) {
    timed_operation operation;
    operation.duration = duration;
    measure measured = operation.make();
    const auto samples = operation.take(measured);
    CHECK(samples.size() == count);
    CHECK(operation.runs == static_cast<int>(count) + 1);
    CHECK(samples.median() == duration);
    CHECK(samples.spread() == 0ns);
  }
}

TEST_CASE("the time limit ends a configuration that became slower") {
  timed_operation operation;
  measure measured = operation.make();
  measured.reset([&] {
    if (operation.runs == 1) operation.duration = 20ms;
  });
  const auto samples = operation.take(measured);
  CHECK(samples.size() == 13);
  CHECK(samples.median() == 20ms);
}

TEST_CASE("a slow reset counts towards the time limit but not towards the plan or the samples") {
  timed_operation operation;
  measure measured = operation.make();
  measured.reset([&] { operation.timed.device.advance(30ms); });
  const auto samples = operation.take(measured);
  // Of 100 planned runs in batches of 13, each of which takes 43 ms with its reset.
  CHECK(samples.size() == 39);
  CHECK(samples.median() == 1ms);
}

TEST_CASE("a function that times itself is sampled once for each batch") {
  tune::testing::fake_clock clock;
  std::vector<int> calls;
  measure measured = tune::make_measure([&](int iterations) {
    calls.push_back(iterations);
    clock.advance(10ms * iterations);
    return 0.01;
  });
  const auto samples = tune::take_samples(measured, {}, [&] { return clock.now(); });
  CHECK(calls == std::vector{1, 3, 2, 2, 2, 1});
  CHECK(samples.size() == 5);
  CHECK(samples.median() == 10ms);
}

TEST_CASE("a configuration whose time is NaN is measured and does not win") {
  tune::testing::fake_clock clock;
  measure measured =
      tune::make_measure([](int) { return std::numeric_limits<double>::quiet_NaN(); });
  const auto samples =
      tune::take_samples(measured, {.max_iterations = 10}, [&] { return clock.now(); });
  CHECK(samples.size() > 0);
  CHECK_FALSE(tune::score(samples));
}

TEST_CASE("the settings decide how much is measured") {
  timed_operation operation;
  measure measured = operation.make();
  const auto take = [&](const tune::measure_settings& settings) {
    return operation.take(measured, settings).size();
  };
  CHECK(take({.time_limit = 10ms}) == 10);
  CHECK(take({.max_iterations = 20}) == 20);
  CHECK(take({.time_limit = 0ns, .min_iterations = 5}) == 5);
  CHECK_THROWS_AS(take({.min_iterations = 0}), tune::argument_error);
}

TEST_CASE("short runs are averaged where the timer is coarse") {
  tune::testing::fake_device_options options;
  options.limits.timer_resolution_ns = 500;
  timed_operation operation(options);
  operation.duration = 2us;
  measure measured = operation.make();
  CHECK(measured.timer_resolution() == 500ns);
  const auto samples = operation.take(measured, {.max_iterations = 10});
  CHECK(samples.size() == 10);
  CHECK(samples.median() == 2us);
  CHECK(operation.runs == 1 + 10 * 105);
}

TEST_CASE("a device that idled is warmed up until its runs take equal times") {
  timed_operation operation;
  measure measured = tune::make_measure(
      operation.timed.queue, [&] { operation.timed.launch(operation.runs++ < 40 ? 2ms : 1ms); });
  const auto report = tune::warm_up(measured, {.at_least = 90ms}, operation.timed.device.clock());
  CHECK(report.converged);
  CHECK(report.runs == 60);
}

samples of(const std::vector<double>& nanoseconds) {
  samples made;
  for (const double time : nanoseconds) made.add(run_time(time));
  return made;
}

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

TEST_CASE("minimum, mean and median are those of all samples, in any order") {
  struct row {
    std::vector<double> times;
    double min;
    double mean;
    double median;
  };
  for (const row& expected : {row{{7}, 7, 7, 7}, row{{9, 1, 5}, 1, 5, 5}, row{{9, 1}, 1, 5, 5},
                              row{{100, 4, 1, 3}, 1, 27, 3.5}, row{{2, 2, 2, 10}, 2, 4, 2}}) {
    CHECK(of(expected.times).min() == run_time(expected.min));
    CHECK(of(expected.times).mean() == run_time(expected.mean));
    CHECK(of(expected.times).median() == run_time(expected.median));
  }
}

TEST_CASE("the spread is the median deviation, scaled, and an outlier does not move it") {
  // The deviations from 5 are 4, 1, 0, 2, 3.
  CHECK(of({1, 4, 5, 7, 8}).spread().count() == doctest::Approx(2 * 1.4826));
  CHECK(of({1, 4, 5, 7, 8e9}).spread().count() == doctest::Approx(2 * 1.4826));
  CHECK(of({1, 4, 5, 7, 8}).relative_spread() == doctest::Approx(0.4 * 1.4826));
  CHECK(of({5, 5, 5}).spread() == run_time(0));
  CHECK(of({5}).relative_spread() == 0);
}

TEST_CASE("the times are kept in the order in which they came") {
  const samples taken = of({3, 1, 2});
  CHECK(taken.size() == 3);
  CHECK(std::vector(taken.times().begin(), taken.times().end()) ==
        std::vector{run_time(3), run_time(1), run_time(2)});
  CHECK(samples({run_time(4)}).median() == run_time(4));
}

TEST_CASE("a time that cannot be true never wins, wherever it stands") {
  for (const double wrong : {not_a_number, -not_a_number, infinity, -infinity, 0.0, -0.0, -1.0}) {
    for (std::size_t position = 0; position < 5; ++position) {
      CAPTURE(wrong);
      CAPTURE(position);
      std::vector<run_time> times(5, run_time(2));
      times[position] = run_time(wrong);
      CHECK_FALSE(samples(times).valid());
      CHECK_FALSE(tune::score(samples(times)));
    }
    CHECK_FALSE(tune::score(of({wrong})));
  }
}

TEST_CASE("the score of valid samples is their median") {
  CHECK(of({9, 1, 5}).valid());
  CHECK(tune::score(of({9, 1, 5})) == run_time(5));
  CHECK(tune::score(of({1e-3})) == run_time(1e-3));
}

TEST_CASE("statistics of nothing, and of what is not finite, are NaN") {
  for (const samples& bad :
       {samples(), of({1, not_a_number, 3}), of({not_a_number}), of({1, infinity})}) {
    CHECK(std::isnan(bad.min().count()));
    CHECK(std::isnan(bad.mean().count()));
    CHECK(std::isnan(bad.median().count()));
    CHECK(std::isnan(bad.spread().count()));
    CHECK(std::isnan(bad.relative_spread()));
    CHECK_FALSE(bad.valid());
    CHECK_FALSE(tune::score(bad));
  }
}

samples ascending(int count) {
  samples result;
  for (int i = 1; i <= count; ++i) result.add(run_time(100 + i));
  return result;
}

/// How often the interval of so many samples holds the true median, 1.
double coverage(int size, double confidence, double spread, bool heavy_tails) {
  tune::testing::simulated_chance chance(7);
  constexpr int trials = 1000;
  int held = 0;
  for (int i = 0; i < trials; ++i) {
    samples drawn;
    for (int k = 0; k < size; ++k) {
      double deviate = chance.normal();
      if (heavy_tails) deviate /= std::abs(chance.normal()) + 0.1;
      drawn.add(run_time(std::exp(spread * deviate)));
    }
    const interval bounds = confidence_interval(drawn, confidence, spread);
    held += bounds.lower <= run_time(1) && run_time(1) <= bounds.upper ? 1 : 0;
  }
  return static_cast<double>(held) / trials;
}

TEST_CASE("enough samples give an interval of order statistics") {
  // The ranks are those of the binomial distribution, as tables of the sign test have them.
  CHECK(confidence_interval(ascending(6), 0.95) == interval{run_time(101), run_time(106)});
  CHECK(confidence_interval(ascending(8), 0.99) == interval{run_time(101), run_time(108)});
  CHECK(confidence_interval(ascending(20), 0.95) == interval{run_time(106), run_time(115)});
  CHECK(confidence_interval(ascending(100), 0.95) == interval{run_time(140), run_time(161)});
  const interval exact = confidence_interval(ascending(1000), 0.95);
  const interval approximate = confidence_interval(ascending(1001), 0.95);
  CHECK(approximate.lower.count() == doctest::Approx(exact.lower.count()).epsilon(0.003));
  CHECK(approximate.upper.count() == doctest::Approx(exact.upper.count()).epsilon(0.003));
}

TEST_CASE("few samples tell nothing unless it is known how runs spread") {
  CHECK(confidence_interval(ascending(5), 0.95) == interval{});
  const interval known = confidence_interval(samples({run_time(100)}), 0.95, 0.01);
  CHECK(known.lower.count() == doctest::Approx(100 - 1.96 * 0.01 * 100).epsilon(0.001));
  CHECK(known.upper.count() == doctest::Approx(100 + 1.96 * 0.01 * 100).epsilon(0.001));
}

TEST_CASE("the interval holds the true median at least as often as it says") {
  for (const int size : {1, 2, 3, 5, 6, 8, 11, 30}) {
    CAPTURE(size);
    CHECK(coverage(size, 0.95, 0.02, false) > 0.93);
    CHECK(coverage(size, 0.99, 0.02, false) > 0.975);
  }
  for (const int size : {6, 8, 11, 30}) {
    CAPTURE(size);
    CHECK(coverage(size, 0.95, 0.02, true) > 0.94);
  }
}

TEST_CASE("an outlier among few samples does not raise the lower bound") {
  const interval bounds = confidence_interval(samples({run_time(100), run_time(300)}), 0.99, 0.01);
  CHECK(bounds.lower < run_time(100));
  CHECK(bounds.upper > run_time(300));
}

TEST_CASE("times that cannot be true tell nothing") {
  CHECK(confidence_interval({}, 0.95, 0.01) == interval{});
  CHECK(confidence_interval(samples({run_time(1), run_time(NAN)}), 0.95, 0.01) == interval{});
  CHECK(confidence_interval(samples({run_time(1), run_time(-1)}), 0.95, 0.01) == interval{});
}

TEST_CASE("the deviate of a confidence is the normal distribution's") {
  CHECK(tune::normal_deviate(0.95) == doctest::Approx(1.959964));
  CHECK(tune::normal_deviate(0.99) == doctest::Approx(2.575829));
  CHECK(tune::normal_deviate(0.5) == doctest::Approx(0.674490));
  CHECK(tune::normal_deviate(0.999999) == doctest::Approx(4.891638));
}

TEST_CASE("a confidence is between 0 and 1") {
  for (const double wrong : {0.0, 1.0, -1.0, 95.0, static_cast<double>(NAN)}) {
    CHECK_THROWS_AS(confidence_interval(ascending(9), wrong), tune::argument_error);
    CHECK_THROWS_AS(tune::normal_deviate(wrong), tune::argument_error);
  }
}

}  // namespace measure_test
