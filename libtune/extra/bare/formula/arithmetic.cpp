// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/bare/formula/arithmetic.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>

namespace tune::detail::formulas {
namespace {

operand raise_real(double a, double b) {
  if (a == 0 && b < 0) refuse("a power of zero with a negative exponent");
  if (a < 0 && std::isfinite(a) && std::isfinite(b) && b != std::floor(b)) {
    refuse(fmt::format("{} to the power of {} is no real number", a, b));
  }
  const double made = std::pow(a, b);
  if (std::isinf(made) && std::isfinite(a) && std::isfinite(b)) {
    refuse(fmt::format("{} to the power of {} is too large", a, b));
  }
  return operand::of(made);
}

operand raise(const operand& a, const operand& b) {
  if (a.is_real() || b.is_real() || b.whole < 0) return raise_real(a.number(), b.number());
  std::int64_t result = 1;
  std::int64_t square = a.whole;
  for (std::int64_t left = b.whole; left != 0; left /= 2) {
    if (left % 2 != 0 && __builtin_mul_overflow(result, square, &result)) break;
    if (left == 1) return operand::of(result);
    if (__builtin_mul_overflow(square, square, &square)) break;
  }
  return b.whole == 0 ? operand::of(std::int64_t{1})
                      : operand::of(std::pow(a.number(), b.number()));
}

operand shift(op what, std::int64_t number, std::int64_t bits) {
  if (bits < 0) refuse(fmt::format("cannot shift by {}", bits));
  if (what == op::shift_right) return operand::of(number >> std::min<std::int64_t>(bits, 63));
  std::int64_t made = 0;
  const bool fits = bits < 63 && !__builtin_mul_overflow(number, std::int64_t{1} << bits, &made);
  if (fits || number == 0) return operand::of(made);
  constexpr std::int64_t beyond_any = 2000;  // enough bits to shift 1 to infinity
  return operand::of(
      std::ldexp(static_cast<double>(number), static_cast<int>(std::min(bits, beyond_any))));
}

operand apply_bits(op what, const operand& a, const operand& b) {
  for (const operand* each : {&a, &b}) {
    if (!each->is_whole()) refuse("cannot take the bits of " + described(*each));
  }
  if (what == op::shift_left || what == op::shift_right) return shift(what, a.whole, b.whole);
  const std::int64_t made = what == op::bit_or    ? a.whole | b.whole
                            : what == op::bit_xor ? a.whole ^ b.whole
                                                  : a.whole & b.whole;
  return a.is_boolean() && b.is_boolean() ? operand::of(made != 0) : operand::of(made);
}

double calculate_real(op what, double a, double b) {
  switch (what) {
    case op::add: return a + b;
    case op::subtract: return a - b;
    case op::multiply: return a * b;
    default: break;
  }
  if (b == 0) refuse("a division by zero");
  if (what == op::divide) return a / b;
  return what == op::floor_divide ? floor_quotient(a, b) : floor_remainder(a, b);
}

// The integral real number is exact or beyond 64 bits.
operand calculate_whole(op what, std::int64_t a, std::int64_t b) {
  std::int64_t made = 0;
  bool is_lost = false;
  switch (what) {
    case op::add: is_lost = __builtin_add_overflow(a, b, &made); break;
    case op::subtract: is_lost = __builtin_sub_overflow(a, b, &made); break;
    case op::multiply: is_lost = __builtin_mul_overflow(a, b, &made); break;
    default:
      if (b == 0) refuse("a division by zero");
      if (what == op::divide) return operand::of(true_quotient(a, b));
      if (b == -1 && what == op::modulo) return operand::of(std::int64_t{0});
      if (b == -1) {  // the quotient may not fit
        is_lost = __builtin_sub_overflow(std::int64_t{0}, a, &made);
      } else {
        made = what == op::modulo ? floor_remainder(a, b) : floor_quotient(a, b);
      }
  }
  if (!is_lost) return operand::of(made);
  return operand::of(calculate_real(what, static_cast<double>(a), static_cast<double>(b)));
}

}  // namespace

double floor_remainder(double a, double b) {
  const double rest = std::fmod(a, b);
  if (rest == 0) return std::copysign(0.0, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}

// The quotient of the number without its remainder is nearly whole.
double floor_quotient(double a, double b) {
  const double rest = std::fmod(a, b);
  double quotient = (a - rest) / b;
  if (rest != 0 && (rest < 0) != (b < 0)) quotient -= 1;
  if (quotient == 0) return std::copysign(0.0, a / b);
  const double floor = std::floor(quotient);
  return quotient - floor > 0.5 ? floor + 1 : floor;
}

double true_quotient(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t exact = std::int64_t{1} << 53;
  if (a >= -exact && a <= exact && b >= -exact && b <= exact) {
    return static_cast<double>(a) / static_cast<double>(b);
  }
  const bool is_negative = (a < 0) != (b < 0);
  const std::uint64_t top = a < 0 ? -static_cast<std::uint64_t>(a) : static_cast<std::uint64_t>(a);
  const std::uint64_t bottom =
      b < 0 ? -static_cast<std::uint64_t>(b) : static_cast<std::uint64_t>(b);
  // Long division to 62 significant bits; the last one stands for all that follow.
  std::uint64_t quotient = top / bottom;
  std::uint64_t rest = top % bottom;
  int bits = 0;
  if (quotient >> 62 != 0) {
    rest |= quotient & 1;
    quotient >>= 1;
    --bits;
  }
  while (quotient >> 61 == 0 && (quotient != 0 || rest != 0)) {
    const bool is_one = rest >= bottom - rest;
    rest = is_one ? rest - (bottom - rest) : rest * 2;
    quotient = quotient * 2 + (is_one ? 1 : 0);
    ++bits;
  }
  if (rest != 0) quotient |= 1;
  const double made = std::ldexp(static_cast<double>(quotient), -bits);
  return is_negative ? -made : made;
}

std::partial_ordering order_of(std::int64_t whole, double real) {
  constexpr double beyond = 9223372036854775808.0;  // the first value that does not fit in 64 bits
  if (!(real >= -beyond && real < beyond)) return 0.0 <=> real;
  const double part = std::trunc(real);
  const auto number = static_cast<std::int64_t>(part);
  return whole != number ? std::partial_ordering(whole <=> number) : part <=> real;
}

operand calculate(op what, const operand& a, const operand& b) {
  for (const operand* each : {&a, &b}) {
    if (!each->is_number()) refuse("cannot calculate with " + described(*each));
  }
  if (what >= op::bit_or && what <= op::shift_right) return apply_bits(what, a, b);
  if (what == op::power) return raise(a, b);
  if (!a.is_real() && !b.is_real()) return calculate_whole(what, a.whole, b.whole);
  return operand::of(calculate_real(what, a.number(), b.number()));
}

operand apply_sign(op what, const operand& a) {
  if (!a.is_number()) refuse("cannot calculate with " + described(a));
  if (what == op::invert) {
    if (a.is_real()) refuse("cannot take the bits of " + described(a));
    return operand::of(~a.whole);
  }
  if (a.is_real()) return operand::of(what == op::minus ? -a.real : a.real);
  return what == op::minus ? calculate_whole(op::subtract, 0, a.whole) : operand::of(a.whole);
}

operand whole_part(double v, const char* what) {
  if (!std::isfinite(v)) refuse(fmt::format("{} of {}, which is no whole number", what, v));
  constexpr double beyond = 9223372036854775808.0;
  if (v >= -beyond && v < beyond) return operand::of(static_cast<std::int64_t>(v));
  return operand::of(v);
}

}  // namespace tune::detail::formulas
