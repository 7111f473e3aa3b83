// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/float16.hpp"

#include <bit>
#include <cmath>

namespace tune {
namespace {

constexpr std::uint32_t float_infinity = 0x7F800000U;
constexpr std::uint32_t half_infinity = 0x7C00U;

// Cuts bits off at the end, rounding to nearest even. A carry into the exponent is right as it is.
constexpr std::uint32_t shift_rounded(std::uint32_t value, unsigned bits) noexcept {
  const std::uint32_t half = std::uint32_t{1} << (bits - 1);
  const std::uint32_t odd = (value >> bits) & 1U;
  return (value + half - 1 + odd) >> bits;
}

// Of a finite value without its sign.
std::uint32_t half_magnitude(std::uint32_t magnitude) noexcept {
  constexpr std::uint32_t overflow = 0x47800000U;         // 65536
  constexpr std::uint32_t smallest_normal = 0x38800000U;  // 2^-14
  constexpr std::uint32_t rebias = (127U - 15U) << 23;
  if (magnitude >= overflow) return half_infinity;
  if (magnitude >= smallest_normal) return shift_rounded(magnitude - rebias, 13);
  // A subnormal counts units of 2^-24.
  const std::uint32_t exponent = magnitude >> 23;
  if (exponent < 102) return 0;
  const std::uint32_t mantissa = (magnitude & 0x7FFFFFU) | 0x800000U;
  return shift_rounded(mantissa, 126 - exponent);
}

}  // namespace

float16::float16(float value) noexcept {
  const auto word = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (word >> 16) & 0x8000U;
  const std::uint32_t magnitude = word & 0x7FFFFFFFU;
  std::uint32_t half = 0;
  if (magnitude > float_infinity) {
    half = 0x7E00U | ((magnitude >> 13) & 0x3FFU);
  } else {
    half = half_magnitude(magnitude);
  }
  bits_ = static_cast<std::uint16_t>(sign | half);
}

float16::operator float() const noexcept {
  const bool negative = (bits_ & 0x8000U) != 0;
  const std::uint32_t magnitude = bits_ & 0x7FFFU;
  float value = 0;
  if (magnitude >= half_infinity) {
    value = std::bit_cast<float>(float_infinity | ((magnitude & 0x3FFU) << 13));
  } else if (magnitude >= 0x400U) {
    value = std::bit_cast<float>((magnitude << 13) + ((127U - 15U) << 23));
  } else {
    value = std::ldexp(static_cast<float>(magnitude), -24);
  }
  return negative ? -value : value;
}

bfloat16::bfloat16(float value) noexcept {
  const auto word = std::bit_cast<std::uint32_t>(value);
  const bool is_nan = (word & 0x7FFFFFFFU) > float_infinity;
  bits_ = static_cast<std::uint16_t>(is_nan ? (word >> 16) | 0x40U : shift_rounded(word, 16));
}

bfloat16::operator float() const noexcept {
  return std::bit_cast<float>(std::uint32_t{bits_} << 16);
}

}  // namespace tune
