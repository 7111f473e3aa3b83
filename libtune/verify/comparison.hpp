// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

#include "libtune/array/layout.hpp"
#include "libtune/array/shape.hpp"
#include "libtune/verify/tolerance.hpp"

namespace tune {

/// How a result compares with an answer.
struct comparison {
  std::size_t elements = 0;    ///< compared
  std::size_t mismatches = 0;  ///< outside the tolerance
  shape first{};               ///< the index of the first mismatch, if there is one
  std::string expected{};      ///< the answer there
  std::string got{};           ///< the result there

  bool matches() const noexcept { return mismatches == 0; }
  /// "3 of 12 elements differ, the first at (1, 2): expected 4, got 5".
  std::string describe() const;
};

/// Compares elements in C order; the paddings may differ and are not looked at.
/// Structs match if their bytes do, whatever the tolerance.
/// @throws argument_error if the types or shapes differ
comparison compare(const array_layout& expected_layout, const void* expected,
                   const array_layout& got_layout, const void* got, const tolerance& allowed);

}  // namespace tune
