// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "libtune/array/layout.hpp"
#include "libtune/base/cxx20.hpp"
#include "libtune/base/dtype.hpp"

namespace tune {

/// Rules for comparing a result with the answer.
enum class tolerance_rule : std::uint8_t {
  distance,         ///< |got - expected| <= absolute + relative * |expected|, for each element
  ulps,             ///< each element is at most this many representable numbers away
  exact,            ///< each element has the same bits
  signal_to_noise,  ///< 10 log10(sum |expected|^2 / sum |got - expected|^2), over the whole array
};

/// The allowed difference between a result and the answer. A plain distance is written as a list,
/// every other rule by its name; defaults depend on the element type:
///
///   {.absolute = 1e-5, .relative = 1e-6}
///   {.absolute = 1e-5}  // whatever the size of the answer
///   {}                  // what numpy.allclose allows, see for_type
///   tune::tolerance::ulps(4)
///   tune::tolerance::signal_to_noise(60)
///
/// Infinity passes only if the same infinity is expected, and NaN only if the answer is NaN and its
/// author has declared it intended (nan_expected), whatever the rule. For a complex element the
/// distance is that of the complex numbers; ULPs apply to each of its two parts. Integers are
/// compared by the same rules, with an ULP of 1. Structs are equal if their bytes are, whatever the
/// rule.
struct tolerance {
  /// The absolute distance. If one of the two distances is given, the other is 0; if neither is,
  /// the element type determines both.
  std::optional<double> absolute{};
  std::optional<double> relative{};  ///< the distance relative to the magnitude of the answer
  tolerance_rule rule = tolerance_rule::distance;  ///< the rule of the comparison
  double limit = 0.0;                              ///< the allowed ULPs, or the required decibels
  bool nan_expected = false;  ///< true if NaN in the answer is intended; then NaN is right there

  /// Positive and negative zero count as the same number.
  static constexpr tolerance ulps(std::uint32_t most) {
    return {.rule = tolerance_rule::ulps, .limit = static_cast<double>(most)};
  }
  /// Positive and negative zero differ, and so do two NaN with different bits.
  static constexpr tolerance exact() { return {.rule = tolerance_rule::exact}; }
  /// For signals, in which single samples mean little. A result without any error passes for every
  /// signal; for an answer of zeros only this result passes.
  static constexpr tolerance signal_to_noise(double least_decibels) {
    return {.rule = tolerance_rule::signal_to_noise, .limit = least_decibels};
  }
  /// The same tolerance, but NaN is right where the answer is NaN.
  constexpr tolerance allowing_nan() const {
    tolerance changed = *this;
    changed.nan_expected = true;
    return changed;
  }

  /// True if the element type determines the distances.
  constexpr bool is_default() const noexcept {
    return rule == tolerance_rule::distance && !absolute && !relative;
  }
  /// The same tolerance with both distances set. The defaults are (relative, absolute) 1e-5 and
  /// 1e-8 for float32 and complex64, as in numpy.allclose; 1e-9 and 1e-12 for float64 and
  /// complex128; for the 16-bit types five representable numbers, that is 5e-3 for float16 and 4e-2
  /// for bfloat16, and 1e-5; zero for integers.
  tolerance for_type(element_type type) const;
};

/// Describes a tolerance for elements of a type: "1e-08 + 1e-05 * |expected|, the default for
/// float32", "4 ULPs", "the same bits", "60 dB".
std::string describe(const tolerance& allowed, element_type type);

/// The outcome of comparing a result with an answer.
struct comparison {
  std::size_t elements = 0;    ///< the number of compared elements
  std::size_t mismatches = 0;  ///< elements outside the tolerance; for a signal, only those that
                               ///< are not finite
  /// The index of the first mismatch, if any; else, if the signal is too noisy, that of the
  /// greatest error.
  shape first{};
  std::string expected{};  ///< the answer there
  std::string got{};       ///< the result there
  /// The greatest distance of an element from the answer, in ULPs under that rule; infinite if one
  /// is infinitely far away or NaN. Empty for structs.
  std::optional<double> greatest_error{};
  tolerance_rule rule = tolerance_rule::distance;  ///< the rule of the comparison
  std::string allowed{};                           ///< the tolerance in words; empty for structs
  /// The signal-to-noise ratio in decibels, infinite without noise; empty under other rules.
  std::optional<double> decibels{};
  double least_decibels = 0;  ///< the required ratio; 0 unless decibels is set

  /// True if every element is within the tolerance, and the noise low enough under that rule.
  bool matches() const noexcept {
    return mismatches == 0 && (!decibels || *decibels >= least_decibels);
  }
  /// "3 of 12 elements differ, the first at (1, 2): expected 4, got 5; the greatest error is 7;
  /// allowed: 1e-08 + 1e-05 * |expected|, the default for float32".
  std::string describe() const;
};

/// The ratio of two sums of squares in decibels: infinite without noise, and NaN, which satisfies
/// no requirement, if a sum has overflowed.
double decibels_of(double signal, double noise) noexcept;

/// Compares elements in C order; the paddings may differ and are ignored.
/// @throws argument_error if the types or shapes differ
comparison compare(const array_layout& expected_layout, const void* expected,
                   const array_layout& got_layout, const void* got, const tolerance& allowed);

}  // namespace tune
