// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "libtune/base/dtype.hpp"
#include "libtune/verify/comparison.hpp"

namespace tune::detail {

template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<std::complex<T>> = true;

template <class T>
inline constexpr bool is_half = std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>;

/// The type for calculations with a real type.
template <class T>
using float_of = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// The bits of a floating-point number as an integer that counts representable numbers from zero.
template <class T>
std::int64_t steps_from_zero(const T& number) noexcept {
  using word = std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                  std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;
  constexpr word sign = word{1} << (8 * sizeof(T) - 1);
  word bits = 0;
  std::memcpy(&bits, &number, sizeof bits);
  const auto magnitude = static_cast<std::int64_t>(bits & static_cast<word>(sign - 1));
  return (bits & sign) != 0 ? -magnitude : magnitude;
}

/// The distance of two numbers, in representable numbers.
template <class T>
double steps_between(const T& a, const T& b) noexcept {
  // In unsigned arithmetic, so that no difference overflows.
  const std::int64_t first = steps_from_zero(a);
  const std::int64_t second = steps_from_zero(b);
  const auto larger = static_cast<std::uint64_t>(first > second ? first : second);
  const auto smaller = static_cast<std::uint64_t>(first > second ? second : first);
  return static_cast<double>(larger - smaller);
}

template <class T>
bool is_nan(const T& number) noexcept {
  if constexpr (is_complex<T>) {
    return std::isnan(number.real()) || std::isnan(number.imag());
  } else if constexpr (std::is_integral_v<T>) {
    return false;
  } else {
    return std::isnan(static_cast<float_of<T>>(number));
  }
}

template <class T>
double magnitude_of(const T& number) noexcept {
  if constexpr (is_complex<T>) {
    return std::abs(std::complex<double>(number));
  } else if constexpr (std::is_integral_v<T>) {
    return std::abs(static_cast<double>(number));
  } else {
    return std::abs(static_cast<double>(static_cast<float_of<T>>(number)));
  }
}

/// The distance of two numbers: zero for equal ones, including infinities; NaN or infinite if one
/// of two different numbers is.
template <class T>
double distance_between(const T& a, const T& b) noexcept {
  if (a == b) return 0;
  if constexpr (is_complex<T>) {
    return std::abs(std::complex<double>(a) - std::complex<double>(b));
  } else if constexpr (std::is_integral_v<T>) {
    using wide = std::uint64_t;
    return static_cast<double>(a > b ? static_cast<wide>(a) - static_cast<wide>(b)
                                     : static_cast<wide>(b) - static_cast<wide>(a));
  } else {
    return std::abs(static_cast<double>(static_cast<float_of<T>>(a)) -
                    static_cast<double>(static_cast<float_of<T>>(b)));
  }
}

/// The distance in representable numbers; for complex numbers, the greater of the parts' distances.
template <class T>
double ulps_between(const T& a, const T& b) noexcept {
  if (!std::isfinite(distance_between(a, b))) return std::numeric_limits<double>::infinity();
  if constexpr (is_complex<T>) {
    return std::fmax(ulps_between(a.real(), b.real()), ulps_between(a.imag(), b.imag()));
  } else if constexpr (std::is_integral_v<T>) {
    return distance_between(a, b);
  } else {
    return a == b ? 0 : steps_between(a, b);
  }
}

/// The comparison of an element of the answer with one of the result. The kernel in
/// count_differences.kernel decides in the same way.
struct element_verdict {
  bool wrong;
  double error;  ///< infinite if there is no finite distance
};

/// @param allowed  with both distances set, as by for_type
template <class T>
element_verdict judge(const T& expected, const T& got, const tolerance& allowed) noexcept {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const bool exact = allowed.rule == tolerance_rule::exact;
  // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): exact means the same bits
  const bool same_bits = exact && std::memcmp(&expected, &got, sizeof(T)) == 0;
  if (is_nan(expected) || is_nan(got)) {
    const bool right = allowed.nan_expected && is_nan(expected) && is_nan(got);
    if (right && (!exact || same_bits)) return {.wrong = false, .error = 0};
    return {.wrong = true, .error = infinity};
  }
  const double ulps = allowed.rule == tolerance_rule::ulps ? ulps_between(expected, got) : 0;
  const double distance = distance_between(expected, got);
  // Otherwise NaN, from infinite parts, would never be the greatest error.
  if (!std::isfinite(distance)) return {.wrong = true, .error = infinity};
  switch (allowed.rule) {
    case tolerance_rule::ulps: return {.wrong = !(ulps <= allowed.limit), .error = ulps};
    case tolerance_rule::exact: return {.wrong = !same_bits, .error = distance};
    case tolerance_rule::signal_to_noise: return {.wrong = false, .error = distance};
    case tolerance_rule::distance: break;
  }
  const bool close =
      distance == 0 || distance <= *allowed.absolute + *allowed.relative * magnitude_of(expected);
  return {.wrong = !close, .error = distance};
}

}  // namespace tune::detail
