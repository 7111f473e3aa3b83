// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/simulate/strategy_score.hpp"

#include <doctest/doctest.h>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/extra/simulate/read_recording.hpp"

namespace strategy_score_test {

using tune::random_baseline;
using tune::recorded_space;
using tune::scoring;

/// Two parameters whose best values are in the middle: neighbours have similar times.
recorded_space bowl() {
  std::string entries;
  for (int x = 0; x < 24; ++x) {
    for (int y = 0; y < 24; ++y) {
      const int time = 100 + (x - 15) * (x - 15) + (y - 7) * (y - 7);
      entries += (entries.empty() ? "" : ",") + ("\"" + std::to_string(x)) + "," +
                 std::to_string(y) + R"(": {"x": )" + std::to_string(x) + R"(, "y": )" +
                 std::to_string(y) + R"(, "time": )" + std::to_string(time) +
                 R"(, "compile_time": 10})";
    }
  }
  return tune::read_kernel_tuner(R"({"tune_params_keys": ["x", "y"], "cache": {)" + entries + "}}",
                                 "bowl");
}

TEST_CASE("a strategy that learns scores more than random search, which scores about 0") {
  const recorded_space space = bowl();
  const scoring by{random_baseline(space)};
  const auto random = tune::score_strategy("random", space, by, 100);
  const auto model = tune::score_strategy("model", space, by, 100);
  CHECK(random.scores.size() == 100);
  CHECK(random.searches.size() == 100);
  CHECK(random.score == doctest::Approx(0).epsilon(0.2));
  CHECK(model.score > random.score + 2 * (model.uncertainty + random.uncertainty));
  CHECK(model.ratio >= 1);
  CHECK(model.ratio < random.ratio);
  CHECK(by.score(model.searches[model.typical]) == model.scores[model.typical]);
  std::size_t better = 0;
  for (const double each : model.scores) better += each > model.scores[model.typical] ? 1 : 0;
  CHECK(better <= 50);
}

TEST_CASE("equal seeds give equal scores, and unknown strategies and no searches are refused") {
  const recorded_space space = bowl();
  const scoring by{random_baseline(space)};
  CHECK(tune::score_strategy("genetic", space, by, 3, 7).scores ==
        tune::score_strategy("genetic", space, by, 3, 7).scores);
  CHECK(tune::score_strategy("genetic", space, by, 2, 8).scores[0] ==
        tune::score_strategy("genetic", space, by, 3, 7).scores[1]);
  CHECK_THROWS_AS(tune::score_strategy("guessing", space, by, 1), tune::argument_error);
  CHECK_THROWS_AS(tune::score_strategy("random", space, by, 0), tune::argument_error);
}

TEST_CASE("a figure that is maximised is scored by its reciprocal, whichever file it is in") {
  const tune::objective rate = tune::maximise("gflop_s");
  const auto cache = tune::read_kernel_tuner(
      R"({"tune_params_keys": ["n"], "objective": "GFLOP/s", "cache": {
        "1": {"n": 1, "time": 5, "GFLOP/s": 4.0}, "2": {"n": 2, "time": 1, "GFLOP/s": NaN},
        "3": {"n": 3, "time": 1, "GFLOP/s": 8.0}}})",
      "c");
  CHECK(cache[0].score_ms == 0.25);
  CHECK(cache[1].failure == "without gflop_s");
  CHECK(cache[2].score_ms == 0.125);
  const auto t4 = tune::read_t4(R"({"results": [{"configuration": {"n": 1}, "times": {},
      "invalidity": "correct", "correctness": 1, "objectives": ["time"],
      "measurements": [{"name": "GFLOP/s", "value": 2.0}, {"name": "time", "value": 9}]}]})",
                                "t", rate);
  CHECK(t4[0].score_ms == 0.5);
  const auto negative = tune::read_kernel_tuner(
      R"({"tune_params_keys": ["n"], "objective": "score", "cache": {
        "1": {"n": 1, "score": -3.0}, "2": {"n": 2, "score": -1.0}, "3": {"n": 3, "score": 0.5}}})",
      "c", tune::maximise("score"));
  CHECK(negative[0].score_ms == 7.0);
  CHECK(negative[1].score_ms == 5.0);
  CHECK(negative[2].score_ms == 3.5);
  CHECK_THROWS_WITH_AS(tune::read_kernel_tuner(R"({"tune_params_keys": ["n"], "objective": "score",
      "cache": {"1": {"n": 1, "score": 4.0}}})",
                                               "c"),
                       doctest::Contains("--objective"), tune::argument_error);
}

TEST_CASE("a T4 file of KTT is a recording in its own unit") {
  const auto space = tune::read_t4(R"({"results": [
      {"configuration": {"n": 1}, "times": {"compilation_time": 1500.0, "runtimes": [96.5]},
       "objectives": ["TotalDuration"], "invalidity": "correct", "correctness": 1,
       "measurements": [{"name": "TotalDuration", "value": 96.5, "unit": "Microseconds"}]},
      {"configuration": {"n": 2}, "times": {"runtimes": [10, 20]}, "invalidity": "correct",
       "correctness": 1}]})",
                                   "t");
  CHECK(space[0].score_ms == doctest::Approx(0.0965));
  CHECK(space[0].cost_ms() == doctest::Approx(1.5965));
  CHECK(space[1].score_ms == doctest::Approx(0.015));
}

}  // namespace strategy_score_test
