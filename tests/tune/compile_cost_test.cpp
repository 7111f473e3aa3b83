// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/compile_cost.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <doctest/doctest.h>
#include <random>
#include <vector>

namespace compile_cost_test {

using choice = std::array<std::size_t, 3>;

/// What a program takes, in ns: two parameters matter, and chance a little.
double true_cost(const choice& of, double chance) {
  constexpr std::array<double, 3> unroll{1, 3, 10};
  constexpr std::array<double, 2> vector{1, 2};
  return 1e8 * unroll[of[0]] * vector[of[1]] * std::exp(0.1 * chance);
}

TEST_CASE("nothing is foretold before anything is known") {
  const tune::compile_cost cost;
  CHECK(cost.predict(choice{0, 0, 0}) == 0);
}

TEST_CASE("candidates that were never seen count as the others") {
  tune::compile_cost cost;
  cost.learn(choice{0, 0, 0}, std::chrono::milliseconds(100));
  CHECK(cost.predict(choice{1, 1, 1}) == doctest::Approx(1e8));
  CHECK(cost.predict(std::vector<std::size_t>{}) == doctest::Approx(1e8));
}

TEST_CASE("after fifty programs the next ones are foretold within a third on average") {
  tune::compile_cost cost;
  std::mt19937 random(1);
  std::normal_distribution<double> chance;
  double error = 0;
  for (int i = 0; i < 150; ++i) {
    const choice of{random() % 3, random() % 2, random() % 8};
    const double took = true_cost(of, chance(random));
    if (i >= 50) error += std::abs(std::log(cost.predict(of) / took));
    cost.learn(of, std::chrono::nanoseconds(std::llround(took)));
  }
  CHECK(error / 100 < std::log(1.33));
}

}  // namespace compile_cost_test
