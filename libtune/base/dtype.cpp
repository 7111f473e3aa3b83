// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/dtype.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>

#include "libtune/base/error.hpp"

namespace tune {
namespace {

constexpr std::uint32_t float_infinity = 0x7F800000U;
constexpr std::uint32_t half_infinity = 0x7C00U;

// Drops the lowest bits, rounding to nearest even. A carry into the exponent gives the right
// result.
constexpr std::uint32_t shift_rounded(std::uint32_t value, unsigned bits) noexcept {
  const std::uint32_t half = std::uint32_t{1} << (bits - 1);
  const std::uint32_t odd = (value >> bits) & 1U;
  return (value + half - 1 + odd) >> bits;
}

// Converts a finite value without its sign.
std::uint32_t half_magnitude(std::uint32_t magnitude) noexcept {
  constexpr std::uint32_t overflow = 0x47800000U;         // 65536
  constexpr std::uint32_t smallest_normal = 0x38800000U;  // 2^-14
  constexpr std::uint32_t rebias = (127U - 15U) << 23;
  if (magnitude >= overflow) return half_infinity;
  if (magnitude >= smallest_normal) return shift_rounded(magnitude - rebias, 13);
  // The result is subnormal: it counts units of 2^-24.
  const std::uint32_t exponent = magnitude >> 23;
  if (exponent < 102) return 0;
  const std::uint32_t mantissa = (magnitude & 0x7FFFFFU) | 0x800000U;
  return shift_rounded(mantissa, 126 - exponent);
}

struct description {
  std::string_view name;
  std::size_t bytes;
  std::string_view kernel_name;
};

// in the order of the enumeration
constexpr std::array<description, 14> descriptions{{
    {"int8", 1, "char"},
    {"uint8", 1, "uchar"},
    {"int16", 2, "short"},
    {"uint16", 2, "ushort"},
    {"int32", 4, "int"},
    {"uint32", 4, "uint"},
    {"int64", 8, "long"},
    {"uint64", 8, "ulong"},
    {"float16", 2, "half"},
    {"bfloat16", 2, "bfloat16"},
    {"float32", 4, "float"},
    {"float64", 8, "double"},
    {"complex64", 8, "float2"},
    {"complex128", 16, "double2"},
}};

const description& describe(dtype type) noexcept {
  return descriptions[static_cast<std::size_t>(type)];
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

std::string_view dtype_name(dtype type) noexcept { return describe(type).name; }

dtype dtype_from_name(std::string_view name) {
  std::string known;
  for (std::size_t i = 0; i < descriptions.size(); ++i) {
    if (descriptions[i].name == name) return static_cast<dtype>(i);
    known += (i == 0 ? "" : ", ") + std::string(descriptions[i].name);
  }
  throw argument_error("'" + std::string(name) + "' is not the name of a dtype; the names are " +
                       known);
}

bool is_dtype_name(std::string_view name) noexcept {
  return std::any_of(descriptions.begin(), descriptions.end(),
                     [&](const description& item) { return item.name == name; });
}

std::size_t dtype_bytes(dtype type) noexcept { return describe(type).bytes; }

std::string_view dtype_kernel_name(dtype type) noexcept { return describe(type).kernel_name; }

std::string_view element_type::name() const noexcept {
  return is_struct() ? struct_name_ : dtype_name(dtype_);
}

std::string_view element_type::kernel_name() const noexcept {
  if (!is_struct()) return dtype_kernel_name(dtype_);
  const std::size_t last = struct_name_.rfind(':');
  return last == std::string_view::npos ? struct_name_ : struct_name_.substr(last + 1);
}

std::size_t element_type::bytes() const noexcept {
  return is_struct() ? struct_bytes_ : dtype_bytes(dtype_);
}

// Complex numbers are vectors in kernel text, and vectors are aligned to their size.
std::size_t element_type::alignment() const noexcept {
  return is_struct() ? struct_alignment_ : dtype_bytes(dtype_);
}

std::optional<dtype> element_type::dtype() const noexcept {
  if (is_struct()) return std::nullopt;
  return dtype_;
}

bool operator==(const element_type& a, const element_type& b) noexcept {
  return a.name() == b.name() && a.bytes() == b.bytes();
}

}  // namespace tune
