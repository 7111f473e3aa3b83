// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// The most terms of a cost.
inline constexpr std::size_t most_cost_terms = 18;

/// Numbers that the time of a run grows with, none of them negative: waves of work groups, the
/// steps of each, bytes, launches. Those not used stay 0. The time is taken to be their sum, each
/// multiplied by a factor that is fitted, and a constant.
using cost_terms = std::array<double, most_cost_terms>;

/// Computes the terms of one configuration at sizes. Allocates nothing, and does not throw.
using cost_function = std::function<cost_terms(std::span<const std::uint64_t>)>;

/// The factors of the terms of one configuration, at last the constant; none is negative.
using cost_factors = std::array<double, most_cost_terms + 1>;

/// Returns the sum of the terms by their factors.
inline double predicted_time(const cost_factors& factors, const cost_terms& terms) noexcept {
  // Three sums, since each addition waits for the one before.
  std::array<double, 3> sums{factors.back()};
  for (std::size_t i = 0; i < terms.size(); ++i) sums[i % 3] += factors[i] * terms[i];
  return sums[0] + sums[1] + sums[2];
}

/// Returns the place of the least predicted time among those that fit; none if there is none, or
/// all are infinite. One function for tuning, lookups and checks.
/// @param factors    of each place
/// @param corrected  returns what the predicted time of a place is multiplied by, for its terms
/// @param terms      of a place
/// @param fits       true for a place that may be chosen
template <class Corrected, class Terms, class Fits>
std::optional<std::size_t> find_cheapest(std::span<const cost_factors> factors,
                                         const Corrected& corrected, const Terms& terms,
                                         const Fits& fits) {
  std::optional<std::size_t> cheapest;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t place = 0; place < factors.size(); ++place) {
    const cost_terms own = terms(place);
    const double time = predicted_time(factors[place], own) * corrected(place, own);
    if (!(time < least) || !fits(place)) continue;
    cheapest = place;
    least = time;
  }
  return cheapest;
}

/// Times of a configuration, with its terms there.
struct cost_samples {
  std::vector<cost_terms> terms{};  ///< at each sample
  std::vector<double> times{};      ///< as many; greater than 0; infinite ones count for nothing
};

/// Fits the factors of each configuration by least squares of relative errors, none negative. Where
/// the times of one leave its factors open they are near those that fit all configurations.
/// Terms and times may have any unit.
/// @param all  of each configuration
std::vector<cost_factors> fit_costs(std::span<const cost_samples> all);

}  // namespace tune
