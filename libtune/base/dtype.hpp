// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

#include "libtune/base/cxx20.hpp"

/// Allows a plain struct as the element type of arrays. The kernel has to define a struct with the
/// same layout and the same name, without the namespaces. Use it at global scope:
///   LIBTUNE_ELEMENT(app::random_state)
#define LIBTUNE_ELEMENT(...)                                                                \
  template <>                                                                               \
  struct tune::struct_traits<__VA_ARGS__> {                                                 \
    static constexpr bool known = true;                                                     \
    static constexpr const char* name = #__VA_ARGS__;                                       \
  };                                                                                        \
  static_assert(std::is_trivially_copyable_v<__VA_ARGS__>, "elements are copied as bytes"); \
  static_assert(std::is_default_constructible_v<__VA_ARGS__>, "host arrays make elements");

namespace tune {

/// A number in IEEE 754's binary16 format. It converts to and from float, and has no arithmetic of
/// its own. Conversion from float rounds to the nearest, ties to even; numbers that are too large
/// become infinity, and NaN stays NaN.
class float16 {
 public:
  /// Zero.
  constexpr float16() noexcept = default;
  /// Rounds to the nearest, ties to even.
  explicit float16(float value) noexcept;
  /// Converts exactly.
  explicit operator float() const noexcept;

  /// The number with this representation: from the highest bit 1 of sign, 5 of exponent, 10 of
  /// mantissa.
  static constexpr float16 from_bits(std::uint16_t bits) noexcept {
    float16 made;
    made.bits_ = bits;
    return made;
  }
  /// The representation, in the form that from_bits takes.
  constexpr std::uint16_t bits() const noexcept { return bits_; }

  /// Compares as numbers: NaN equals nothing, and both zeros are equal.
  friend bool operator==(float16 a, float16 b) noexcept {
    return static_cast<float>(a) == static_cast<float>(b);
  }

 private:
  std::uint16_t bits_ = 0;
};

/// The upper half of a float: the range of a float with eight bits of precision. It converts to and
/// from float, and has no arithmetic of its own.
class bfloat16 {
 public:
  /// Zero.
  constexpr bfloat16() noexcept = default;
  /// Rounds to the nearest, ties to even.
  explicit bfloat16(float value) noexcept;
  /// Converts exactly.
  explicit operator float() const noexcept;

  /// The number with this representation: from the highest bit 1 of sign, 8 of exponent, 7 of
  /// mantissa.
  static constexpr bfloat16 from_bits(std::uint16_t bits) noexcept {
    bfloat16 made;
    made.bits_ = bits;
    return made;
  }
  /// The representation, in the form that from_bits takes.
  constexpr std::uint16_t bits() const noexcept { return bits_; }

  /// Compares as numbers: NaN equals nothing, and both zeros are equal.
  friend bool operator==(bfloat16 a, bfloat16 b) noexcept {
    return static_cast<float>(a) == static_cast<float>(b);
  }

 private:
  std::uint16_t bits_ = 0;
};

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

/// The type with this name. @throws argument_error that lists the names if it is unknown.
dtype dtype_from_name(std::string_view name);

/// True if dtype_from_name knows the name.
bool is_dtype_name(std::string_view name) noexcept;

/// The size of one element, in bytes.
std::size_t dtype_bytes(dtype type) noexcept;

/// The type's name in kernel text, valid in OpenCL C and, after the preamble, in CUDA C++
/// ("float", "uchar", "float2").
std::string_view dtype_kernel_name(dtype type) noexcept;

/// The dtype of a host type: the member type, if the member known is true.
template <class T>
struct dtype_traits {
  static constexpr bool known = false;  ///< true if T has a dtype
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
/// Matches std::complex of float or double. Including <complex> would add a tenth to the parse time
/// of libtune.hpp.
template <class T>
concept complex_number = requires(const T& z) {
  typename T::value_type;
  z.real();
  z.imag();
}
&&(std::is_same_v<typename T::value_type, float> ||
   std::is_same_v<typename T::value_type, double>)&&sizeof(T) == 2 * sizeof(typename T::value_type);
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
template <detail::complex_number T>
struct dtype_traits<T>
    : detail::known_dtype<sizeof(T) == 8 ? dtype::complex64 : dtype::complex128> {};

/// The dtype of a host type; undefined for types without one.
template <class T>
requires dtype_traits<T>::known inline constexpr dtype dtype_of = dtype_traits<T>::type;

/// The name of a struct that LIBTUNE_ELEMENT lists.
template <class T>
struct struct_traits {
  static constexpr bool known = false;  ///< true if T is listed
};

/// A host type that can be the element of an array.
template <class T>
concept element = dtype_traits<T>::known || struct_traits<T>::known;

/// The type of an array's elements at run time: a dtype, or a struct of the application. A value.
class element_type {
 public:
  /// One of the built-in types.
  // NOLINTNEXTLINE(google-explicit-constructor): a dtype is an element type
  element_type(tune::dtype type) noexcept : dtype_(type) {}

  /// The element type of a host type.
  template <element T>
  static element_type of() noexcept {
    if constexpr (struct_traits<T>::known) {
      return {struct_traits<T>::name, sizeof(T), alignof(T)};
    } else {
      return dtype_traits<T>::type;
    }
  }

  /// An element type of this many bytes without further meaning.
  static element_type opaque(std::size_t bytes) noexcept { return {"opaque", bytes, 1}; }

  /// "float32", or the struct's name as listed.
  std::string_view name() const noexcept;
  /// The name in kernel text: "float", or the struct's name without the namespaces.
  std::string_view kernel_name() const noexcept;
  /// The size of one element, in bytes.
  std::size_t bytes() const noexcept;
  /// The alignment of an element, in bytes.
  std::size_t alignment() const noexcept;
  /// The dtype; empty for a struct.
  std::optional<tune::dtype> dtype() const noexcept;

  /// Structs are equal if their names and sizes are.
  friend bool operator==(const element_type& a, const element_type& b) noexcept;

 private:
  element_type(std::string_view struct_name, std::size_t bytes, std::size_t alignment) noexcept
      : struct_name_(struct_name), struct_bytes_(bytes), struct_alignment_(alignment) {}

  bool is_struct() const noexcept { return !struct_name_.empty(); }

  tune::dtype dtype_ = tune::dtype::int8;  // unused for a struct
  std::string_view struct_name_{};         // points to static storage
  std::size_t struct_bytes_ = 0;
  std::size_t struct_alignment_ = 0;
};

}  // namespace tune
