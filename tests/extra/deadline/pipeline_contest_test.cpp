// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/deadline/pipeline_contest.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <doctest/doctest.h>
#include <limits>
#include <optional>
#include <vector>

#include "libtune/base/error.hpp"
#include "tests/extra/deadline/modelled_pipeline.hpp"

namespace pipeline_contest_test {

using sample::modelled_pipeline;
using seconds = std::chrono::duration<double>;

struct contest {
  std::vector<modelled_pipeline> pipelines{};
  tune::pipeline_goal goal{.deadline = seconds(0.02)};
  tune::contest_settings settings{.budget = seconds(60)};
  std::vector<std::size_t> broken{};
  std::optional<std::size_t> stopped{};  // its second run has a frame that takes 50 ms longer
  std::vector<std::size_t> runs{};
  double spent = 0;

  tune::contest_result find() {
    runs.assign(pipelines.size(), 0);
    std::vector<std::size_t> numbers;
    for (std::size_t i = 0; i < pipelines.size(); ++i) numbers.push_back(i);
    return tune::find_best_pipeline(
        goal, numbers, settings,
        [&](std::size_t index,
            const tune::pipeline_load& load) -> std::optional<tune::frame_record> {
          ++runs[index];
          if (std::ranges::find(broken, index) != broken.end()) return std::nullopt;
          modelled_pipeline now = pipelines[index];
          if (stopped == index && runs[index] == 2) now.slow_each = 10, now.slow = 0.05;
          tune::frame_record made = now.run(load);
          spent += made.elapsed().count();
          return made;
        });
  }
};

TEST_CASE("the highest rate: the configuration with the highest rate in time wins") {
  contest one{.pipelines = {{.units = 1}, {.units = 4}, {.units = 8}, {.units = 2}}};
  // Frames of 1, 2, 4 and 8 units have 500, 667, 800 and 889 units/s.
  const tune::contest_result found = one.find();
  REQUIRE(found.has_winner);
  CHECK(found.standings.front().configuration == 2);
  CHECK(found.standings.front().kept_rate > 0.97 * 888.9);
  CHECK(found.standings.front().kept_rate <= 889);
  CHECK(found.late_allowed == doctest::Approx(one.goal.late));
}

TEST_CASE("the highest rate: a higher throughput does not help if frames take too long") {
  contest one{.pipelines = {{.units = 32}, {.units = 4}, {.units = 4, .extra = 0.03}}};
  // The first needs 33 ms for a frame, and the last 35 ms; 20 ms are allowed.
  const tune::contest_result found = one.find();
  REQUIRE(found.has_winner);
  CHECK(found.standings.front().configuration == 1);
  CHECK(found.standings.front().kept_rate > 0.97 * 800);
}

TEST_CASE("the highest rate: frames that are slow now and then count as late") {
  // The second is faster, but each 50th of its frames comes 30 ms later.
  contest one{.pipelines = {{.units = 4}, {.units = 8, .slow_each = 50, .slow = 0.03}}};
  const tune::contest_result found = one.find();
  REQUIRE(found.has_winner);
  CHECK(found.standings.front().configuration == 0);
}

TEST_CASE("the highest rate: one stop of the machine in a short run excludes no configuration") {
  contest one{.pipelines = {{.units = 1}, {.units = 4}, {.units = 8}, {.units = 2}, {.units = 3}},
              .stopped = 2};
  const tune::contest_result found = one.find();
  REQUIRE(found.has_winner);
  CHECK(found.standings.front().configuration == 2);
  CHECK(one.runs[2] > 2);
}

TEST_CASE("a pipeline that misses the deadline at every rate leaves no winner") {
  contest one{.pipelines = {{.units = 4, .extra = 0.03}, {.units = 32}}};
  const tune::contest_result found = one.find();
  CHECK_FALSE(found.has_winner);
  CHECK(found.standings.size() == 2);
  CHECK(found.standings.front().kept_rate == 0);
}

TEST_CASE("a failed configuration does not end the contest, and is last") {
  contest one{.pipelines = {{.units = 8}, {.units = 4}}, .broken = {0}};
  const tune::contest_result found = one.find();
  REQUIRE(found.has_winner);
  CHECK(found.standings.front().configuration == 1);
  CHECK(found.standings.back().failed);
  CHECK(one.runs[0] == 1);
}

TEST_CASE("late frames that the machine causes do not make all rates too high") {
  // Each 400th frame is late whatever the rate: 2.5 times what the goal allows.
  contest one{.pipelines = {{.units = 1, .slow_each = 400, .slow = 0.021},
                            {.units = 8, .slow_each = 400, .slow = 0.021}},
              .settings = {.budget = seconds(300)}};
  const tune::contest_result found = one.find();
  REQUIRE(found.has_winner);
  CHECK(found.late_allowed > one.goal.late);
  CHECK(found.standings.front().configuration == 1);
}

TEST_CASE("at a rate the configuration with the least quantile wins") {
  contest one{.pipelines = {{.units = 1, .extra = 2e-3},
                            {.units = 1, .slow_each = 100, .slow = 5e-3},
                            {.units = 1, .extra = 1e-3},
                            {.units = 8}}};
  one.goal.rate = 300;
  SUBCASE("of 999 in 1000: slow frames count") {
    const tune::contest_result found = one.find();
    REQUIRE(found.has_winner);
    CHECK(found.standings.front().configuration == 2);
    CHECK(found.standings.front().value == doctest::Approx(3e-3));
    CHECK(found.standings.front().kept_rate == 300);
  }
  SUBCASE("of half: they do not") {
    one.goal.quantile = 0.5;
    CHECK(one.find().standings.front().configuration == 1);
  }
}

TEST_CASE("at a rate that no configuration keeps there is no winner") {
  contest one{.pipelines = {{.units = 1}, {.units = 2}}};
  one.goal.rate = 900;
  CHECK_FALSE(one.find().has_winner);
}

TEST_CASE("a figure of the pipelines can be minimised at a rate") {
  contest one{.pipelines = {{.units = 1}, {.units = 2}}};
  one.goal.rate = 300;
  one.goal.figure = "watts";
  const tune::contest_result found = tune::find_best_pipeline(
      one.goal, {0, 1}, one.settings, [&](std::size_t index, const tune::pipeline_load& load) {
        tune::frame_record made = one.pipelines[index].run(load);
        made.add({"watts", index == 0 ? 300.0 : 200.0, "W"});
        return std::optional(made);
      });
  REQUIRE(found.has_winner);
  CHECK(found.standings.front().configuration == 1);
  CHECK(found.standings.front().value == 200);
}

TEST_CASE("a contest keeps its budget") {
  contest one{.settings = {.budget = seconds(20)}};
  for (int i = 0; i < 40; ++i)
    one.pipelines.push_back({.units = 1.0 + i % 8, .fixed = 1e-3 + 1e-5 * i});
  SUBCASE("for the highest rate") {}
  SUBCASE("at a rate") { one.goal.rate = 300; }
  const tune::contest_result found = one.find();
  CHECK(found.spent.count() == doctest::Approx(one.spent));
  CHECK(one.spent < 1.3 * 20);
}

TEST_CASE("excused frames do not count as late") {
  tune::frame_record record;
  record.add(seconds(0), seconds(1));
  record.add(seconds(1), seconds(9));
  record.excuse();
  CHECK(record.latencies() == std::vector<double>{1});
  CHECK(record.ends() == std::vector<double>{1});
  CHECK(record.excused() == 1);
}

TEST_CASE("a goal that contradicts itself is refused") {
  contest one{.pipelines = {{}}};
  SUBCASE("no deadline") { one.goal.deadline = seconds(0); }
  SUBCASE("a deadline that is no number") {
    one.goal.deadline = seconds(std::numeric_limits<double>::quiet_NaN());
  }
  SUBCASE("a negative rate") { one.goal.rate = -1; }
  SUBCASE("a part above 1") { one.goal.late = 1.5; }
  SUBCASE("a figure without a rate") { one.goal.figure = "watts"; }
  SUBCASE("no time") { one.settings.budget = seconds(0); }
  SUBCASE("no configuration") { one.pipelines.clear(); }
  CHECK_THROWS_AS(one.find(), tune::argument_error);
}

}  // namespace pipeline_contest_test
