// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// The units of a device that do the arithmetic of a kernel. Each kind has a peak of its own.
enum class arithmetic : std::uint8_t {
  undeclared,      ///< unknown or mixed: the operations are compared with no peak
  float32,         ///< multiply-adds of float
  float64,         ///< multiply-adds of double
  float16,         ///< multiply-adds of half, where the device calculates in it
  int32,           ///< multiply-adds of 32-bit integers
  tensor_float16,  ///< units that multiply matrices of half or bfloat16, summed as float
  tensor_tf32,     ///< the same for TF32
  tensor_int8,     ///< the same for 8-bit integers, summed as 32-bit ones
};

/// Returns the name of an arithmetic, as in the enumeration. Databases store it.
std::string_view arithmetic_name(arithmetic by) noexcept;

/// Returns the arithmetic of a name; empty for other names.
std::optional<arithmetic> arithmetic_from_name(std::string_view name) noexcept;

/// The useful work of one run, the same for every configuration; zero: not declared.
struct declared_work {
  double flops = 0;  ///< operations; a multiply-add is two
  double bytes = 0;  ///< bytes read and written
  /// The units that do all of these operations, so that they are compared with their peak.
  tune::arithmetic arithmetic = tune::arithmetic::undeclared;

  friend bool operator==(const declared_work&, const declared_work&) = default;
};

}  // namespace tune
