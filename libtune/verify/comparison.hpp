// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "libtune/array/layout.hpp"
#include "libtune/array/shape.hpp"
#include "libtune/verify/tolerance.hpp"

namespace tune {

/// How a result compares with an answer.
struct comparison {
  std::size_t elements = 0;    ///< compared
  std::size_t mismatches = 0;  ///< outside the tolerance; of a signal those that are not finite
  /// The index of the first mismatch, if there is one; else, if the signal is too noisy, that of
  /// the greatest error.
  shape first{};
  std::string expected{};  ///< the answer there
  std::string got{};       ///< the result there
  /// The greatest distance of an element from the answer, in ULPs where these decide; infinite if
  /// one is infinitely far away or NaN. Empty for structs.
  std::optional<double> greatest_error{};
  tolerance_rule rule = tolerance_rule::distance;  ///< by which it was decided
  std::string allowed{};  ///< by the tolerance, in words; empty for structs
  /// The signal-to-noise ratio in decibels, infinite without noise; empty unless that decides.
  std::optional<double> decibels{};
  double least_decibels = 0;  ///< what was asked for; 0 unless decibels is set

  /// Whether every element is within the tolerance, and the noise low enough where that decides.
  bool matches() const noexcept {
    return mismatches == 0 && (!decibels || *decibels >= least_decibels);
  }
  /// "3 of 12 elements differ, the first at (1, 2): expected 4, got 5; the greatest error is 7;
  /// allowed: 1e-08 + 1e-05 * |expected|, the default for float32".
  std::string describe() const;
};

/// The ratio of two sums of squares in decibels: infinite without noise, and NaN, which no demand
/// is met by, if a sum has overflowed.
double decibels_of(double signal, double noise) noexcept;

/// Compares elements in C order; the paddings may differ and are not looked at.
/// @throws argument_error if the types or shapes differ
comparison compare(const array_layout& expected_layout, const void* expected,
                   const array_layout& got_layout, const void* got, const tolerance& allowed);

}  // namespace tune
