// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/ranged/cost_model.hpp"

#include <cmath>
#include <doctest/doctest.h>
#include <limits>
#include <vector>

namespace cost_model_test {

using tune::cost_factors;
using tune::cost_samples;
using tune::cost_terms;

constexpr double infinite = std::numeric_limits<double>::infinity();

/// Samples at sizes up to this one, with terms that grow by the size, its square and its half.
cost_samples samples_of(const cost_factors& exact, int most) {
  cost_samples made;
  for (int size = 1; size <= most; ++size) {
    const double of = size;
    made.terms.push_back({of, 1e-3 * of * of, std::ceil(of / 2)});
    made.times.push_back(tune::predicted_time(exact, made.terms.back()));
  }
  return made;
}

cost_factors factors(double linear, double square, double half, double constant) {
  cost_factors made{linear, square, half};
  made.back() = constant;
  return made;
}

TEST_CASE("times are predicted as they were made, in any unit") {
  for (const double unit : {1.0, 1e-9, 1e6}) {
    const std::vector<cost_samples> all{samples_of(factors(2 * unit, 30 * unit, 0, 5 * unit), 40),
                                        samples_of(factors(1 * unit, 0, 3 * unit, 9 * unit), 40)};
    const auto fitted = tune::fit_costs(all);
    for (std::size_t i = 0; i < all.size(); ++i) {
      for (std::size_t s = 0; s < all[i].times.size(); ++s) {
        CHECK(tune::predicted_time(fitted[i], all[i].terms[s]) ==
              doctest::Approx(all[i].times[s]).epsilon(0.03));
      }
    }
  }
}

TEST_CASE("no factor is negative, and what failed counts for nothing") {
  cost_samples one;
  for (int size = 1; size <= 20; ++size) {
    one.terms.push_back({1.0 * size, 20.0 - size});
    one.times.push_back(size == 7 ? infinite : 3.0 + size);
  }
  const auto fitted = tune::fit_costs(std::vector{one});
  for (const double each : fitted.front()) CHECK(each >= 0);
  CHECK(tune::predicted_time(fitted.front(), one.terms[6]) == doctest::Approx(10).epsilon(0.02));
}

TEST_CASE("what the times of one leave open is as for all") {
  const cost_factors exact = factors(2, 50, 0, 5);
  const std::vector<cost_samples> all{samples_of(exact, 60), samples_of(exact, 60),
                                      samples_of(exact, 2)};
  const auto fitted = tune::fit_costs(all);
  CHECK(tune::predicted_time(fitted[2], all[0].terms[59]) ==
        doctest::Approx(all[0].times[59]).epsilon(0.1));
  CHECK(tune::fit_costs({}).empty());
}

}  // namespace cost_model_test
