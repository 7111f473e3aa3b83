// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The launch of the kernels of this folder, and the macros by which they know the elements' type.
#pragma once

#include <cstddef>
#include <type_traits>

#include "libtune/base/dtype.hpp"
#include "libtune/kernel/compile.hpp"
#include "libtune/verify/element_rule.hpp"

namespace tune::detail {

inline constexpr std::size_t work_group = 256;
inline constexpr std::size_t groups = 512;

template <class T>
constexpr const char* integer_name() {
  constexpr bool is_signed = std::is_signed_v<T>;
  switch (sizeof(T)) {
    case 1: return is_signed ? "signed char" : "uchar";
    case 2: return is_signed ? "short" : "ushort";
    case 4: return is_signed ? "int" : "uint";
    default: return is_signed ? "long" : "ulong";
  }
}

constexpr const char* word_name(std::size_t bytes) {
  switch (bytes) {
    case 1: return "uchar";
    case 2: return "ushort";
    case 4: return "uint";
    default: return "ulong";
  }
}

// The size of the numbers that make up an element of this type.
template <class T>
constexpr std::size_t part_bytes() {
  if constexpr (is_complex<T>) return sizeof(typename T::value_type);
  return sizeof(T);
}

/// sign_bit and infinity_bits of the parts of a floating-point type.
template <class T>
void add_float_bits(defines& macros) {
  constexpr std::size_t bytes = part_bytes<T>();
  const bool doubles = bytes == 8;
  macros.add("sign_bit", doubles ? "0x8000000000000000UL" : bytes == 4 ? "0x80000000u" : "0x8000u");
  macros.add("infinity_bits", doubles                       ? "0x7ff0000000000000UL"
                              : bytes == 4                  ? "0x7f800000u"
                              : std::is_same_v<T, bfloat16> ? "0x7f80u"
                                                            : "0x7c00u");
}

/// integral and element; real, element and load_number; or complex_part.
template <class T>
void add_number(defines& macros) {
  if constexpr (is_complex<T>) {
    macros.add("complex_part", sizeof(T) == 8 ? "float" : "double");
  } else if constexpr (std::is_integral_v<T>) {
    macros.add("integral", 1).add("element", integer_name<T>());
  } else if constexpr (is_half<T>) {
    const std::string name(std::is_same_v<T, float16> ? "half" : "bfloat16");
    macros.add("real", "float").add("element", name).add("load_number", "vload_" + name);
  } else {
    const char* const name = std::is_same_v<T, float> ? "float" : "double";
    macros.add("real", name).add("element", name);
  }
}

}  // namespace tune::detail
