// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/model/coverage.hpp"

#include <cmath>
#include <doctest/doctest.h>
#include <random>

namespace coverage_test {

using tune::coverage;
using tune::parameter_coverage;
using tune::tried_configuration;
using tune::value_coverage;

tried_configuration tried(std::int64_t x, std::int64_t y, std::optional<double> score,
                          std::string outcome = {}) {
  return {{{"x", x}, {"y", y}, {"z", std::int64_t{1}}}, score, std::move(outcome)};
}

const parameter_coverage& named(const coverage& made, const char* name) {
  for (const parameter_coverage& item : made.parameters()) {
    if (item.name == name) return item;
  }
  throw std::runtime_error(std::string("there is no ") + name);
}

const value_coverage& at(const coverage& made, const char* name, std::int64_t held) {
  for (const value_coverage& item : named(made, name).values) {
    if (item.value == tune::value(held)) return item;
  }
  throw std::runtime_error(std::string("there is no such value of ") + name);
}

/// A time in which x = 2 is 1.5 times as slow as x = 1, and y = 2 four times as slow as y = 1.
double additive(std::int64_t x, std::int64_t y) {
  return 100 * (x == 2 ? 1.5 : 1) * (y == 2 ? 4 : 1);
}

TEST_CASE("a value that was tried with bad companions only is not blamed for these") {
  // x = 1 is the better one. It was tried mostly with the bad y, so its mean time is the worse one.
  std::mt19937_64 random(1);
  std::normal_distribution<double> noise(0, 0.02);
  std::vector<tried_configuration> trials;
  const auto add = [&](std::int64_t x, std::int64_t y, int count) {
    for (int i = 0; i < count; ++i) {
      trials.push_back(tried(x, y, additive(x, y) * std::exp(noise(random))));
    }
  };
  add(1, 1, 3);
  add(1, 2, 30);
  add(2, 1, 30);
  add(2, 2, 3);
  const coverage made({}, trials);
  CHECK(at(made, "x", 1).ratio == 1.0);
  CHECK(*at(made, "x", 2).ratio == doctest::Approx(1.5).epsilon(0.03));
  CHECK(*at(made, "y", 2).ratio == doctest::Approx(4).epsilon(0.03));
  CHECK(*at(made, "x", 2).lower < 1.5);
  CHECK(*at(made, "x", 2).lower > 1.4);
  CHECK(*at(made, "x", 2).upper > 1.5);
  CHECK(*at(made, "x", 2).upper < 1.6);
  CHECK(made.explained() > 0.99);
  CHECK(made.parameters().front().name == "y");
  CHECK(named(made, "y").span == doctest::Approx(4).epsilon(0.03));
}

TEST_CASE("the true ratio lies within the interval about 95 times of 100") {
  std::mt19937_64 random(7);
  std::normal_distribution<double> noise(0, 0.2);
  std::uniform_int_distribution<std::int64_t> any(1, 4);
  int within = 0;
  constexpr int searches = 400;
  for (int i = 0; i < searches; ++i) {
    std::vector<tried_configuration> trials;
    for (int k = 0; k < 40; ++k) {
      const std::int64_t x = std::min(any(random), any(random));
      const std::int64_t y = std::max(any(random), x);
      trials.push_back(tried(x, y, std::exp(0.1 * static_cast<double>(x - 2 * y) + noise(random))));
    }
    const coverage made({}, trials);
    // Against the same value, were it the best or not: x = 1 and x = 2 differ by 0.1.
    const value_coverage& one = at(made, "x", 1);
    const value_coverage& two = at(made, "x", 2);
    if (*one.ratio != 1 && *two.ratio != 1) continue;
    const bool first = *one.ratio == 1;
    const double truth = std::exp(first ? 0.1 : -0.1);
    const value_coverage& other = first ? two : one;
    within += *other.lower <= truth && truth <= *other.upper ? 1 : 0;
  }
  CHECK(within > 0.85 * searches);
}

TEST_CASE("parameters that always changed together share their effect, and cannot be told apart") {
  std::vector<tried_configuration> trials;
  for (int i = 0; i < 20; ++i) {
    trials.push_back(tried(1, 1, 100 + i % 2));
    trials.push_back(tried(2, 2, 400 + i % 2));
  }
  const coverage made({}, trials);
  CHECK(*at(made, "x", 2).ratio == doctest::Approx(2).epsilon(0.02));
  CHECK(*at(made, "y", 2).ratio == doctest::Approx(2).epsilon(0.02));
  CHECK(*at(made, "x", 2).lower < 1);
  CHECK(*at(made, "x", 2).upper > 4);
}

TEST_CASE("where parameters act on each other, less is explained and the intervals are wide") {
  std::vector<tried_configuration> trials;
  for (int i = 0; i < 10; ++i) {
    trials.push_back(tried(1, 1, 100 + i));
    trials.push_back(tried(2, 2, 100 + i));
    trials.push_back(tried(1, 2, 300 + i));
    trials.push_back(tried(2, 1, 300 + i));
  }
  const coverage made({}, trials);
  CHECK(made.explained() < 0.05);
  CHECK(*named(made, "x").values.back().upper > 1.1);
  CHECK(*named(made, "x").values.front().lower < 1.1);
}

tune::space_outline outline() {
  return {.combinations = 12,
          .configurations = 9,
          .removals = {{"x fits y", 3}},
          .parameters = {{"x", {std::int64_t{4}, std::int64_t{1}, std::int64_t{2}}},
                         {"y", {std::int64_t{1}, std::int64_t{2}}},
                         {"z", {std::int64_t{1}, std::int64_t{2}}}}};
}

TEST_CASE("each candidate is counted, in the order of the space, also those never tried") {
  const coverage made(outline(),
                      std::vector{tried(1, 1, 100), tried(2, 1, 150), tried(1, 2, 400),
                                  tried(2, 2, {}, "compile failed")},
                      "enough");
  const auto& x = named(made, "x").values;
  REQUIRE(x.size() == 3);
  CHECK(x[0].value == tune::value(std::int64_t{4}));
  CHECK(x[0].tried == 0);
  CHECK_FALSE(x[0].ratio);
  CHECK(x[1].tried == 2);
  CHECK(x[1].measured == 2);
  CHECK(x[1].best == 100.0);
  CHECK(x[2].tried == 2);
  CHECK(x[2].measured == 1);
  CHECK(named(made, "z").values[0].tried == 4);
  CHECK_FALSE(named(made, "z").values[0].ratio);
  CHECK(made.tried() == 4);
  CHECK(made.measured() == 3);
}

TEST_CASE("the steps lead from all combinations to the measured ones") {
  const coverage made(outline(),
                      std::vector{tried(1, 1, 100), tried(2, 1, {}, "compile failed"),
                                  tried(1, 2, {}, "skipped"), tried(2, 2, {}, "compile failed")},
                      "the time was used up");
  REQUIRE(made.steps().size() == 4);
  std::size_t left = 12;
  for (const tune::coverage_step& step : made.steps()) {
    left -= step.removed;
    CHECK(step.left == left);
  }
  CHECK(left == made.measured());
  CHECK(made.steps()[0].reason == "x fits y");
  CHECK(made.steps()[1].reason == "not tried: the time was used up");
  CHECK(made.steps()[1].removed == 5);
  CHECK(made.steps()[2].reason == "compile failed");
  CHECK(made.summary().front() ==
        "12 combinations - 3 (x fits y) - 5 (not tried: the time was used up) - 2 (compile "
        "failed) - 1 (skipped) = 1 measured");
  CHECK(made.summary().back() == "never tried: x 4; z 2");
}

TEST_CASE("scores that are no positive numbers count as none, and too few give no effect") {
  const coverage made({}, std::vector{tried(1, 1, 100), tried(2, 1, 0), tried(3, 1, -1),
                                      tried(4, 1, std::nan(""))});
  CHECK(made.measured() == 1);
  CHECK_FALSE(at(made, "x", 1).ratio);
  CHECK(made.explained() == 0);
  CHECK(coverage({}, {}).summary() == std::vector<std::string>{"0 tried = 0 measured"});
  CHECK(coverage({}, std::vector{tried(1, 1, 5), tried(2, 1, 5)}).explained() == 0);
}

TEST_CASE("where more is better, the ratio is the factor that is lost") {
  const coverage made(
      {}, std::vector{tried(1, 1, 100), tried(2, 1, 200), tried(1, 2, 101), tried(2, 2, 199)}, "",
      {.name = "gflops", .unit = "GFLOP/s", .maximise = true});
  CHECK(at(made, "x", 2).ratio == 1.0);
  CHECK(at(made, "x", 2).best == 200.0);
  CHECK(*at(made, "x", 1).ratio == doctest::Approx(2).epsilon(0.05));
  CHECK(made.summary().at(1).find("variation of gflops") != std::string::npos);
}

TEST_CASE("neighbours share an effect where a parameter has many values") {
  std::vector<tried_configuration> trials;
  for (std::int64_t x = 0; x < 1000; ++x) {
    trials.push_back(tried(x, x % 3, 100 * std::exp(0.001 * static_cast<double>(x))));
  }
  const coverage made({}, trials);
  CHECK(at(made, "x", 0).ratio == at(made, "x", 31).ratio);
  CHECK(*at(made, "x", 999).ratio == doctest::Approx(std::exp(0.968)).epsilon(0.02));
  CHECK(named(made, "y").span < 1.01);
}

}  // namespace coverage_test
