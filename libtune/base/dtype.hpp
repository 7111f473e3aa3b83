// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "libtune/base/float16.hpp"

namespace tune {

/// The element types of arrays and keys. The names are stored in databases: never rename one.
enum class dtype : std::uint8_t {
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  float16,
  bfloat16,
  float32,
  float64,
  complex64,   ///< two float32: real, imaginary
  complex128,  ///< two float64: real, imaginary
};

/// The name of a type, as in the enumeration ("float32").
std::string_view dtype_name(dtype type) noexcept;

/// The type with this name. @throws argument_error that lists the names if there is none.
dtype dtype_from_name(std::string_view name);

/// Whether dtype_from_name knows a name.
bool is_dtype_name(std::string_view name) noexcept;

/// The size of one element, in bytes.
std::size_t dtype_bytes(dtype type) noexcept;

/// The type's name in kernel text, valid in OpenCL C and, after the preamble, in CUDA C++
/// ("float", "uchar", "float2").
std::string_view dtype_kernel_name(dtype type) noexcept;

/// Whether a host type has a dtype, and if so which: its member type.
template <class T>
struct dtype_traits {
  static constexpr bool known = false;  ///< whether T has a dtype
};

namespace detail {
template <dtype Type>
struct known_dtype {
  static constexpr bool known = true;
  static constexpr dtype type = Type;
};
constexpr dtype integer_dtype(std::size_t bytes, bool is_signed) noexcept {
  switch (bytes) {
    case 1: return is_signed ? dtype::int8 : dtype::uint8;
    case 2: return is_signed ? dtype::int16 : dtype::uint16;
    case 4: return is_signed ? dtype::int32 : dtype::uint32;
    default: return is_signed ? dtype::int64 : dtype::uint64;
  }
}
}  // namespace detail

template <class T>
requires(std::is_integral_v<T> && !std::is_same_v<T, bool>) struct dtype_traits<T>
    : detail::known_dtype<detail::integer_dtype(sizeof(T), std::is_signed_v<T>)> {
};
template <>
struct dtype_traits<float16> : detail::known_dtype<dtype::float16> {};
template <>
struct dtype_traits<bfloat16> : detail::known_dtype<dtype::bfloat16> {};
template <>
struct dtype_traits<float> : detail::known_dtype<dtype::float32> {};
template <>
struct dtype_traits<double> : detail::known_dtype<dtype::float64> {};
template <>
struct dtype_traits<std::complex<float>> : detail::known_dtype<dtype::complex64> {};
template <>
struct dtype_traits<std::complex<double>> : detail::known_dtype<dtype::complex128> {};

/// The dtype of a host type; undefined for types that have none.
template <class T>
requires dtype_traits<T>::known inline constexpr dtype dtype_of = dtype_traits<T>::type;

}  // namespace tune
