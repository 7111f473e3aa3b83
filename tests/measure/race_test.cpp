// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/measure/race/race.hpp"

#include <cmath>
#include <doctest/doctest.h>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/measure/race/race_book.hpp"
#include "tests/measure/simulated_search.hpp"

namespace race_test {

using tune::pooled_spread;
using tune::race;
using tune::race_settings;
using tune::race_state;
using tune::race_step;
using tune::race_task;
using tune::run_time;
using tune::samples;
using tune::testing::simulated_chance;

/// Configurations of known times, on a device with little noise.
struct track {
  std::vector<double> truth;
  std::function<double(int launch)> level = [](int) { return 1.0; };
  double noise = 0.002;
  simulated_chance chance{11};
  int launches = 0;
  std::map<std::size_t, int> runs{};
  std::set<std::size_t> broken{};

  void answer(race& contest, const race_task& task) {
    if (broken.contains(task.configuration)) {
      contest.fail();
      return;
    }
    std::vector<run_time> times;
    for (int i = 0; i < task.runs; ++i) {
      times.emplace_back(truth[task.configuration] * level(launches++) *
                         std::exp(noise * chance.normal()));
    }
    runs[task.configuration] += task.runs;
    contest.add(times);
  }

  void arrive_all(race& contest) const {
    for (std::size_t i = 0; i < truth.size(); ++i) contest.arrive(i);
    contest.close();
  }

  void run(race& contest) {
    while (const auto task = contest.next()) answer(contest, *task);
  }
  /// A whole race of all.
  void run_all(race& contest) {
    arrive_all(contest);
    run(contest);
  }
};

std::vector<double> many(std::size_t count) {
  std::vector<double> truth;
  for (std::size_t i = 0; i < count; ++i) truth.push_back(100 * (1 + 0.02 * double(i)));
  return truth;
}

TEST_CASE("the fastest wins, and what is far slower is run twice") {
  track on{.truth = {300, 150, 100, 200, 120, 400}};
  race contest;
  on.run_all(contest);
  CHECK(contest.finished());
  CHECK(contest.winner() == 2);
  CHECK(contest.tied() == std::vector<std::size_t>{2});
  CHECK(on.runs[3] == 2);
  CHECK(on.runs[5] == 2);
  CHECK(contest.state(5) == race_state::dropped);
  CHECK(contest.score(2).count() == doctest::Approx(100).epsilon(0.01));
  CHECK(contest.interval(2).lower <= contest.score(2));
  CHECK(contest.interval(2).upper >= contest.score(2));
  CHECK(contest.runs() == static_cast<std::size_t>(on.launches));
}

TEST_CASE("one run drops what is surely slower, where runs do not lose time slices") {
  track on{.truth = {100, 160, 118, 140, 500}};
  race contest({.sure_after = std::chrono::nanoseconds(20)});
  on.run_all(contest);
  CHECK(contest.winner() == 0);
  CHECK(on.runs[1] == 1);
  CHECK(on.runs[2] >= 2);
  CHECK(on.runs[3] >= 2);  // not by half
  CHECK(on.runs[4] == 1);
  CHECK(contest.state(4) == race_state::dropped);
  track of_long_ticks{.truth = {100, 160, 500}};
  race careful({.sure_after = std::chrono::nanoseconds(200)});
  of_long_ticks.run_all(careful);
  CHECK(of_long_ticks.runs[1] == 2);  // not by as much
  CHECK(of_long_ticks.runs[2] == 1);
}

TEST_CASE("runs that were made before the arrival count as the first ones") {
  track on{.truth = {100, 200, 101, 100}};
  race contest({.sure_after = std::chrono::nanoseconds(20)});
  CHECK_FALSE(contest.is_surely_slower(run_time(200)));  // nothing to compare with
  contest.arrive(0);
  on.run(contest);
  CHECK(contest.is_surely_slower(run_time(200)));
  CHECK_FALSE(contest.is_surely_slower(run_time(115)));
  contest.arrive(1, 0, {}, std::vector{run_time(200)});
  CHECK(contest.state(1) == race_state::dropped);
  CHECK(contest.score(1) == run_time(200));
  CHECK_FALSE(contest.next());
  contest.arrive(2, 0, {}, std::vector{run_time(101), run_time(101)});
  CHECK(contest.next() == race_task{2, 2, race_step::screening});
  contest.arrive(3, 0, {}, std::vector{run_time(100)});  // while another is measured
  on.run(contest);
  contest.close();
  on.run(contest);
  CHECK(contest.times(2).times()[0] == run_time(101));
  CHECK(contest.times(3).times()[0] != run_time(100));
  CHECK(contest.winner() != std::optional<std::size_t>(1));
}

TEST_CASE("costs that follow from times are raced as times are, and times stay what they are") {
  // Throughput: the fifth takes longest but for one, and does the most in that time.
  const std::vector<double> work{10, 10, 10, 10, 40, 10};
  track on{.truth = {300, 150, 100, 200, 320, 400}};
  // A device that throttles moves costs as it moves times.
  on.level = [](int launch) { return launch > 12 ? 1.08 : 1.0; };
  race contest;
  for (std::size_t i = 0; i < work.size(); ++i) {
    contest.arrive(i, 0, [&work, i](run_time time) { return time / work[i]; });
  }
  contest.close();
  on.run(contest);
  CHECK(contest.winner() == 4);
  CHECK(contest.state(5) == race_state::dropped);
  CHECK(contest.score(4).count() > 315);
}

TEST_CASE("a cost that is a constant is compared as it is, whatever the times do") {
  const std::vector<double> registers{64, 32, 40, 33};
  track on{.truth = {100, 400, 100, 100}, .noise = 0.05};
  race contest;
  for (std::size_t i = 0; i < registers.size(); ++i) {
    contest.arrive(i, 0, [&registers, i](run_time) { return run_time(registers[i]); });
  }
  contest.close();
  on.run(contest);
  CHECK(contest.winner() == 1);
}

TEST_CASE("one that is excluded wins no more, whatever it was in the race") {
  for (std::size_t excluded = 0; excluded < 4; ++excluded) {
    for (int after = 1; after < 30; ++after) {
      CAPTURE(excluded);
      CAPTURE(after);
      track on{.truth = {100, 101, 150, 100.5}};
      race contest;
      on.arrive_all(contest);
      bool is_out = false;
      for (int count = 0; const auto task = contest.next(); ++count) {
        on.answer(contest, *task);
        const race_state state = contest.state(excluded);
        if (is_out || count < after || state == race_state::waiting ||
            state == race_state::running) {
          continue;
        }
        contest.exclude(excluded);
        is_out = true;
      }
      REQUIRE(contest.finished());
      if (is_out) CHECK(contest.winner() != excluded);
      CHECK(contest.winner() != 2);
    }
  }
}

TEST_CASE("a race that is empty, or in which all fail, has no winner") {
  race contest;
  CHECK_FALSE(contest.next());
  CHECK_FALSE(contest.finished());
  contest.close();
  CHECK_FALSE(contest.next());
  CHECK(contest.finished());
  CHECK_FALSE(contest.winner());

  track on{.truth = {100, 200}, .broken = {0, 1}};
  race failing;
  on.run_all(failing);
  CHECK(failing.finished());
  CHECK_FALSE(failing.winner());
}

TEST_CASE("configurations may arrive while others are measured, until the race is closed") {
  track on{.truth = many(12)};
  std::swap(on.truth[0], on.truth[9]);
  race contest;
  for (std::size_t i = 0; i < on.truth.size(); ++i) {
    contest.arrive(i);
    while (const auto task = contest.next()) on.answer(contest, *task);
    CHECK_FALSE(contest.finished());
    CHECK(contest.score(i).count() == doctest::Approx(on.truth[i]).epsilon(0.02));
  }
  contest.close();
  on.run(contest);
  CHECK(contest.winner() == 9);
  CHECK_THROWS_AS(contest.arrive(99), tune::argument_error);
}

TEST_CASE("the next task stays the same until it has been answered") {
  track on{.truth = {100, 101}};
  race contest;
  on.arrive_all(contest);
  const auto first = contest.next();
  CHECK(first == contest.next());
  CHECK(first == race_task{0, 1, race_step::screening});
  on.answer(contest, *first);
  CHECK(contest.next() == race_task{0, 1, race_step::screening});
}

TEST_CASE("of those that are tied the one with the smaller rank wins, then the first") {
  track on{.truth = {100, 100, 100, 100, 150}};
  race contest;
  const std::vector<double> ranks{3, 2, 1, 1, 0};
  for (std::size_t i = 0; i < 5; ++i) contest.arrive(i, ranks[i]);
  contest.close();
  on.run(contest);
  CHECK(contest.winner() == 2);
  CHECK(contest.tied() == std::vector<std::size_t>{2, 3, 1, 0});
}

TEST_CASE("finalists are measured in turn, a few runs each") {
  track on{.truth = {100, 100.4, 100.8, 101.2}, .noise = 0.01};
  race contest;
  on.arrive_all(contest);
  std::vector<std::size_t> order;
  while (const auto task = contest.next()) {
    if (task->step == race_step::final_round) {
      CHECK(task->runs == 2);
      order.push_back(task->configuration);
    }
    on.answer(contest, *task);
  }
  const std::size_t rivals = contest.finalists().size() - 1;
  REQUIRE(rivals > 1);
  REQUIRE(order.size() >= 2 * rivals);
  const std::vector<std::size_t> first(order.begin(), order.begin() + std::ptrdiff_t(rivals));
  CHECK(std::set<std::size_t>(first.begin(), first.end()).size() == rivals);
  // The next turn begins with the last of the one before.
  CHECK(order[rivals] == first.back());
}

TEST_CASE("a device that throttles in the middle does not change the order") {
  // The first are measured on the fast device, and would win by 6 % that are only the clock.
  track on{.truth = {102, 103, 104, 105, 103, 104, 105, 102, 103, 100, 104, 105}};
  on.level = [](int launch) { return launch < 50 ? 1.0 : 1.08; };
  race contest;
  on.run_all(contest);
  CHECK(contest.winner() == 9);
  CHECK(contest.drift().moved == 1);
  CHECK(contest.drift().largest == doctest::Approx(0.077).epsilon(0.05));
  CHECK(contest.drift().resolved());
  // Times after the step are reported as they were measured.
  CHECK(contest.score(9).count() == doctest::Approx(108).epsilon(0.01));
}

TEST_CASE("the score is the median of the times, whatever the device does") {
  for (int kind = 0; kind < 4; ++kind) {
    CAPTURE(kind);
    track on{.truth = many(40), .noise = 0.01};
    on.level = [kind](int launch) {
      if (kind == 0) return 1.0;
      if (kind == 1) return 1 + 0.005 * launch;              // it never stops moving
      if (kind == 2) return launch / 30 % 2 == 0 ? 1.0 : 3;  // somebody comes and goes
      return launch % 10 == 0 ? 20.0 : 1.0;                  // single runs are outliers
    };
    race contest;
    on.arrive_all(contest);
    while (const auto task = contest.next()) {
      on.answer(contest, *task);
      const tune::samples times = contest.times(task->configuration);
      const run_time score = contest.score(task->configuration);
      REQUIRE(score == times.median());
      REQUIRE(contest.interval(task->configuration).lower <= score);
      REQUIRE(contest.interval(task->configuration).upper >= score);
    }
    REQUIRE(contest.winner());
    CHECK(contest.leading() == contest.winner());
  }
}

TEST_CASE("two slow runs do not drop the best, unless they are alike") {
  for (const double slow : {500.0, 3000.0}) {
    track on{.truth = {110, 112, 115, 100, 120}};
    race contest;
    on.arrive_all(contest);
    int run = 0;
    while (const auto task = contest.next()) {
      if (task->configuration == 3 && run < 2) {
        const std::vector<run_time> outlier{run_time(run++ == 0 ? slow : 1.5 * slow)};
        contest.add(outlier);
      } else {
        on.answer(contest, *task);
      }
    }
    CHECK(contest.winner() == 3);
  }
}

TEST_CASE("measurements during another use of the device are repeated") {
  struct row {
    std::size_t best;
    int from;  // launch
    int to;
  };
  // The best is measured at first while everything takes three times as long; and a race that
  // begins on a disturbed device begins anew.
  for (const row& each : {row{12, 20, 120}, row{20, 0, 45}}) {
    const auto [best, from, to] = each;
    CAPTURE(each.best);
    track on{.truth = many(40)};
    std::swap(on.truth[0], on.truth[best]);
    on.level = [from = from, to = to](int launch) {
      return launch >= from && launch < to ? 3.0 : 1.0;
    };
    race contest;
    on.run_all(contest);
    CHECK(contest.winner() == best);
    CHECK(contest.score(best).count() == doctest::Approx(100).epsilon(0.02));
    CHECK(contest.drift().resolved());
    CHECK(contest.in_doubt().empty());
    if (from == 0) continue;
    CHECK(contest.drift().disturbed > 0);
    for (std::size_t i = 0; i < on.truth.size(); ++i) {
      CAPTURE(i);
      if (contest.times(i).size() <= 2) continue;
      CHECK(contest.score(i).count() == doctest::Approx(on.truth[i]).epsilon(0.02));
    }
  }
}

TEST_CASE("the time of the winner is measured until it is well known") {
  track on{.truth = {1e6, 2e6}, .noise = 0.25};
  race contest;
  on.run_all(contest);
  CHECK(contest.winner() == 0);
  const tune::interval known = contest.interval(0);
  CHECK((known.upper - known.lower) / contest.score(0) < 0.11);
  CHECK(contest.times(0).size() > 24);
}

TEST_CASE("a winner that fails in the end leaves the race to the others") {
  track on{.truth = {1e6, 1.05e6, 2e6}, .noise = 0.1};
  race contest;
  on.arrive_all(contest);
  int runs = 0;
  while (const auto task = contest.next()) {
    if (task->configuration == 0 && (runs += task->runs) > 40) on.broken.insert(0);
    on.answer(contest, *task);
  }
  CHECK(contest.finished());
  REQUIRE(contest.winner());
  CHECK((contest.winner() == 1 || !on.broken.contains(0)));
}

TEST_CASE("a device that keeps moving is reported, and the race still ends") {
  track on{.truth = many(40)};
  on.level = [](int launch) { return 1 + 0.005 * launch; };
  race contest;
  on.run_all(contest);
  CHECK(contest.finished());
  CHECK(contest.winner());
  CHECK_FALSE(contest.drift().resolved());
  CHECK_FALSE(tune::drift_text(contest.drift()).empty());
}

TEST_CASE("on a jumping device each measured configuration has a time") {
  track on{.truth = {100, 100.2, 100.4, 100.1, 130}, .noise = 0.01};
  on.level = [](int launch) { return launch / 30 % 2 == 0 ? 1.0 : 1.2; };
  race contest;
  on.arrive_all(contest);
  std::set<std::size_t> measured;
  while (const auto task = contest.next()) {
    on.answer(contest, *task);
    measured.insert(task->configuration);
    for (const std::size_t configuration : measured) {
      CAPTURE(configuration);
      CHECK(std::isfinite(contest.score(configuration).count()));
      CHECK(contest.times(configuration).size() > 0);
    }
  }
  CHECK(contest.drift().moved > 0);
}

TEST_CASE("one that fails leaves the race, whatever it was in it") {
  for (const std::size_t at : {std::size_t{0}, std::size_t{3}, std::size_t{20}, std::size_t{60}}) {
    CAPTURE(at);
    track on{.truth = {100, 101, 100.5, 102, 130}, .noise = 0.01};
    race contest;
    on.arrive_all(contest);
    std::size_t tasks = 0;
    std::optional<std::size_t> failed;
    while (const auto task = contest.next()) {
      if (tasks++ == at) {
        failed = task->configuration;
        contest.fail();
        on.broken.insert(*failed);
      } else {
        on.answer(contest, *task);
      }
    }
    CHECK(contest.finished());
    REQUIRE(contest.winner());
    CHECK(contest.winner() != failed);
    if (failed) CHECK(contest.state(*failed) == race_state::failed);
  }
}

TEST_CASE("when the sentinel fails another takes its place") {
  track on{.truth = many(30)};
  race contest;
  on.arrive_all(contest);
  while (const auto task = contest.next()) {
    if (task->step == race_step::sentinel) on.broken.insert(0);
    on.answer(contest, *task);
  }
  CHECK(contest.state(0) == race_state::failed);
  CHECK(contest.winner() == 1);
}

TEST_CASE("invalid times fail their configuration") {
  race contest;
  for (std::size_t i = 0; i < 4; ++i) contest.arrive(i);
  const std::vector<std::vector<run_time>> wrong{
      {}, {run_time(0)}, {run_time(-1)}, {run_time(NAN)}};
  for (std::size_t i = 0; i < 4; ++i) {
    REQUIRE(contest.next());
    contest.add(wrong[i]);
    CHECK(contest.state(i) == race_state::failed);
  }
}

TEST_CASE("no more are kept alive than the settings say, and those are the ones that are needed") {
  const race_settings settings{.live = 4};
  track on{.truth = std::vector<double>(24, 100), .noise = 0.01};
  race contest(settings);
  on.arrive_all(contest);
  std::size_t remade = 0;
  std::set<std::size_t> alive;
  while (const auto task = contest.next()) {
    if (!alive.contains(task->configuration)) remade += on.runs.contains(task->configuration);
    alive.insert(task->configuration);
    on.answer(contest, *task);
    std::erase_if(alive, [&](std::size_t of) { return !contest.keeps(of); });
    REQUIRE(alive.size() <= settings.live + 1);
  }
  CHECK(contest.finalists().size() > 12);
  // Each is made anew a few times, for many runs at a time.
  CHECK(remade <= 8 * contest.finalists().size());
}

TEST_CASE("a function that takes the mean of its runs is raced as well, and one alone wins") {
  for (const std::vector<double>& truth : {std::vector<double>{200, 100, 103, 150}, {100}}) {
    race contest;
    for (std::size_t i = 0; i < truth.size(); ++i) contest.arrive(i);
    contest.close();
    simulated_chance chance(2);
    while (const auto task = contest.next()) {
      const std::vector<run_time> mean{
          run_time(truth[task->configuration] * std::exp(0.002 * chance.normal()))};
      contest.add(mean);
    }
    CHECK(contest.winner() == (truth.size() > 1 ? 1 : 0));
    if (truth.size() == 1) CHECK(contest.finalists() == std::vector<std::size_t>{0});
  }
}

TEST_CASE("slow configurations are run three times at most in the screening") {
  track on{.truth = {1e9, 1.01e9, 1.02e9}, .noise = 0.03};
  race contest({.final_runs = 0});
  on.arrive_all(contest);
  while (const auto task = contest.next()) {
    if (task->step == race_step::screening) CHECK(on.runs[task->configuration] + task->runs <= 4);
    on.answer(contest, *task);
  }
  CHECK(contest.winner());
}

TEST_CASE("the same numbers lead to the same tasks") {
  std::string stories[2];
  for (std::string& story : stories) {
    track on{.truth = many(30), .noise = 0.01};
    race contest;
    on.arrive_all(contest);
    while (const auto task = contest.next()) {
      story += std::to_string(task->configuration) + "x" + std::to_string(task->runs) + " ";
      on.answer(contest, *task);
    }
  }
  CHECK(stories[0] == stories[1]);
}

TEST_CASE("misuse is an error that says so") {
  race contest;
  contest.arrive(3);
  CHECK_THROWS_AS(contest.arrive(3), tune::argument_error);
  CHECK_THROWS_AS(contest.score(4), tune::argument_error);
  CHECK_THROWS_AS(contest.fail(), tune::argument_error);
  CHECK_THROWS_AS(contest.add({}), tune::argument_error);
  CHECK_THROWS_AS(race({.confidence = 1}), tune::argument_error);
  CHECK_THROWS_AS(race({.indifference = -1}), tune::argument_error);
  CHECK_THROWS_AS(race({.screening_runs = 1}), tune::argument_error);
}

/// Learned from configurations of different speed, with so many samples each.
double learned(double spread, int size, double outliers = 0) {
  tune::testing::simulated_chance chance(3);
  pooled_spread pooled;
  for (int i = 0; i < 400; ++i) {
    samples drawn;
    const double speed = chance.uniform(1, 5);
    for (int k = 0; k < size; ++k) {
      const double outlier = chance.uniform() < outliers ? 2 : 1;
      drawn.add(run_time(1000 * speed * outlier * std::exp(spread * chance.normal())));
    }
    pooled.add(drawn);
  }
  return pooled.value();
}

TEST_CASE("the spread of runs is learned from configurations of different speed") {
  for (const int size : {2, 3, 4, 8}) {
    CAPTURE(size);
    CHECK(learned(0.01, size) == doctest::Approx(0.01).epsilon(0.2));
    CHECK(learned(0.05, size) == doctest::Approx(0.05).epsilon(0.2));
  }
}

TEST_CASE("outliers hardly move the pooled spread") {
  CHECK(learned(0.01, 4, 0.03) == doctest::Approx(0.01).epsilon(0.35));
}

TEST_CASE("without evidence the spread is what was assumed") {
  pooled_spread pooled(0.07);
  CHECK(pooled.value() == 0.07);
  pooled.add(samples({run_time(1)}));
  pooled.add(samples({run_time(1), run_time(NAN)}));
  CHECK(pooled.value() == 0.07);
}

TEST_CASE("a timer that always tells the same is not believed to be exact") {
  pooled_spread pooled;
  for (int i = 0; i < 20; ++i) pooled.add(samples({run_time(5), run_time(5), run_time(5)}));
  CHECK(pooled.value() == 0.0005);
}

}  // namespace race_test
