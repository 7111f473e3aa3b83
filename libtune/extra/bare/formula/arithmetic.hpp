// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <compare>
#include <cstdint>

#include "libtune/extra/bare/formula/operand.hpp"
#include "libtune/extra/bare/formula/syntax.hpp"

/// Python's arithmetic of numbers: of floor division and remainder, of whole and real ones
/// together, and its errors. Whole numbers beyond 64 bits become real. All functions throw
/// not_applicable where Python raises an exception.
namespace tune::detail::formulas {

/// Rounds down. The divisor is neither 0 nor -1.
constexpr std::int64_t floor_quotient(std::int64_t a, std::int64_t b) {
  return a / b - static_cast<std::int64_t>(a % b != 0 && (a < 0) != (b < 0));
}
/// Has the sign of the divisor, which is neither 0 nor -1.
constexpr std::int64_t floor_remainder(std::int64_t a, std::int64_t b) {
  const std::int64_t rest = a % b;
  return rest != 0 && (a < 0) != (b < 0) ? rest + b : rest;
}
/// For real numbers; the divisor is not 0.
double floor_quotient(double a, double b);
double floor_remainder(double a, double b);
/// The nearest real number. The divisor is not 0.
double true_quotient(std::int64_t a, std::int64_t b);

/// Exact, also for a whole and a real number.
std::partial_ordering order_of(std::int64_t whole, double real);

/// The value of an operator of two numbers, from bit_or to power.
operand calculate(op what, const operand& a, const operand& b);
/// The value of minus, plus or invert.
operand apply_sign(op what, const operand& a);

/// The whole number of a real one without a fraction, or the real one if it needs more bits.
/// @param what  the function, for the message about infinities and NaN
operand whole_part(double v, const char* what);

}  // namespace tune::detail::formulas
