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

/// The largest number of terms of a cost.
inline constexpr std::size_t most_cost_terms = 18;

/// Numbers that determine the time of a run, none of them negative: waves of work groups, the steps
/// of each, bytes, launches. Unused terms stay 0. The predicted time is a constant plus the sum of
/// the terms, each multiplied by a fitted factor.
using cost_terms = std::array<double, most_cost_terms>;

/// Computes the terms of one configuration at given sizes. Must not allocate or throw.
using cost_function = std::function<cost_terms(std::span<const std::uint64_t>)>;

/// The factors of the terms of one configuration, and then the constant; none is negative.
using cost_factors = std::array<double, most_cost_terms + 1>;

/// Returns the sum of the terms multiplied by their factors, plus the constant.
inline double predicted_time(const cost_factors& factors, const cost_terms& terms) noexcept {
  // Three sums instead of one, because each addition waits for the previous one.
  std::array<double, 3> sums{factors.back()};
  for (std::size_t i = 0; i < terms.size(); ++i) sums[i % 3] += factors[i] * terms[i];
  return sums[0] + sums[1] + sums[2];
}

/// Returns the place with the smallest predicted time among those that fit; empty if none fits, or
/// all times are infinite. Shared by tuning, lookups and checks.
/// @param factors    the factors of each place
/// @param corrected  returns the correction factor for a place and its terms
/// @param terms      returns the terms of a place
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

/// The measured times of a configuration, with the terms of each sample.
struct cost_samples {
  std::vector<cost_terms> terms{};  ///< at each sample
  std::vector<double> times{};      ///< as many; greater than 0; infinite ones are ignored
};

/// Fits the factors of each configuration by least squares of relative errors, without negative
/// factors. Factors that a configuration's own times do not determine are close to those that fit
/// all configurations. Terms and times may have any unit.
/// @param all  the samples of each configuration
std::vector<cost_factors> fit_costs(std::span<const cost_samples> all);

}  // namespace tune
