// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/model/observations.hpp"

#include <cmath>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <numeric>
#include <vector>

namespace observations_test {

using tune::detail::observations;

observations told(const std::vector<std::optional<double>>& scores) {
  observations all;
  for (std::size_t i = 0; i < scores.size(); ++i) {
    all.add(i);
    all.tell(i, scores[i]);
  }
  return all;
}

TEST_CASE("targets are in the order of the scores, with a mean of 0 and a variance of 1") {
  const auto targets = told({8.0, 1.0, 4.0, 2.0, 1000.0}).targets();
  REQUIRE(targets.size() == 5);
  CHECK(targets[1] < targets[3]);
  CHECK(targets[3] < targets[2]);
  CHECK(targets[2] < targets[0]);
  CHECK(targets[0] < targets[4]);
  float sum = 0;
  float squares = 0;
  for (const float target : targets) {
    sum += target;
    squares += target * target;
  }
  CHECK(sum == doctest::Approx(0).epsilon(1e-4));
  CHECK(squares / 5 == doctest::Approx(1).epsilon(1e-4));
}

TEST_CASE("the same ratio is the same distance among fast ones, and less among slow ones") {
  const auto targets = told({1.0, 2.0, 4.0, 8.0, 16.0}).targets();
  CHECK(targets[1] - targets[0] == doctest::Approx(targets[2] - targets[1]));
  CHECK(targets[4] - targets[3] < (targets[1] - targets[0]) / 2);
}

TEST_CASE("a target knows the part of a score that it stands for") {
  const observations all = told({8.0, 1.0, 4.0, 2.0, 16.0});
  const auto targets = all.targets();
  CHECK((targets[3] - targets[1]) * all.unit() == doctest::Approx(std::log(2.0)));
  CHECK(told({3.0, 3.0}).unit() == 0);
  CHECK(std::isinf(told({3.0, -3.0}).unit()));
}

TEST_CASE("scores of something to maximise count by their ratios, too") {
  const auto targets = told({-16.0, -8.0, -4.0, -2.0, -1.0}).targets();
  const auto times = told({1.0, 2.0, 4.0, 8.0, 16.0}).targets();
  for (std::size_t i = 0; i < 5; ++i) CHECK(targets[i] == doctest::Approx(times[i]));
}

TEST_CASE("the best are listed, the best of all first") {
  CHECK(told({8.0, 1.0, std::nullopt, 2.0}).best(2) == std::vector<std::size_t>{1, 3});
  CHECK(told({8.0, std::nullopt}).best(2) == std::vector<std::size_t>{0});
}

TEST_CASE("scores of both signs count by their ranks") {
  constexpr double most = std::numeric_limits<double>::max();
  const auto targets = told({-most, 0.0, most, -1.0}).targets();
  for (const float target : targets) CHECK(std::isfinite(target));
  CHECK(targets[0] < targets[3]);
  CHECK(targets[3] < targets[1]);
  CHECK(targets[1] < targets[2]);
}

TEST_CASE("equal scores and single ones have targets too") {
  for (const float target : told({3.0, 3.0, 3.0}).targets()) CHECK(target == 0);
  CHECK(told({3.0}).targets()[0] == 0);
}

TEST_CASE("what failed or has not been told has no target") {
  observations all = told({1.0, std::nullopt, 2.0});
  all.add(9);
  CHECK(std::isnan(all.targets()[1]));
  CHECK(std::isnan(all.targets()[3]));
  CHECK(all.successes() == 2);
  CHECK(all.failed() == 1);
  const auto failures = all.failures();
  CHECK(failures[1] - failures[0] == doctest::Approx(1));
  CHECK(std::isnan(failures[3]));
  CHECK(all.usual_failure() == doctest::Approx(1.5 / 5));
}

TEST_CASE("the best and the latest are kept, and the best score even if it is not") {
  observations all;
  for (std::size_t i = 0; i < 10; ++i) {
    all.add(i);
    all.tell(i, i == 3 ? 1.0 : 10.0 + static_cast<double>(i));
  }
  all.forget_all_but(4);
  REQUIRE(all.size() == 4);
  CHECK(all[0].index == 3);
  CHECK(all[1].index == 0);
  CHECK(all[2].index == 8);
  CHECK(all[3].index == 9);
  CHECK(all.best()->index == 3);
  CHECK_MESSAGE(all.contains(5), "it is known to have been tried");
  CHECK_MESSAGE(all.add(5), "but it can be observed again");
  all.tell(5, 0.5);
  CHECK(all.best()->index == 5);
}

using tune::detail::failure_rates;
using point = std::vector<std::uint32_t>;

TEST_CASE("what was never seen is expected to succeed as all do") {
  failure_rates rates;
  CHECK(rates.success(0, 3) == 1);
  rates.learn(point{1, 2}, true);
  CHECK(rates.success(0, 7) == 1);
  CHECK(rates.success(5, 0) == 1);
}

TEST_CASE("a candidate that always fails is expected to, the more often it was seen") {
  failure_rates rates;
  double before = 1;
  for (int i = 0; i < 20; ++i) {
    rates.learn(point{0, 0}, false);
    rates.learn(point{1, 0}, true);
    const double now = rates.success(0, 1);
    CHECK(now < before);
    before = now;
  }
  CHECK(before < 0.1);
  CHECK(rates.success(0, 0) == 1);
  CHECK(rates.success(1, 0) == doctest::Approx(1).epsilon(0.01));
}

TEST_CASE("where all fail alike no candidate is to blame") {
  failure_rates rates;
  for (std::uint32_t i = 0; i < 100; ++i) rates.learn(point{i % 5, i % 2}, i % 10 < 5);
  for (std::uint32_t i = 0; i < 2; ++i) CHECK(rates.success(1, i) > 0.7);
}

}  // namespace observations_test
