// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "libtune/base/dtype.hpp"

namespace tune::operations {

/// A way to make one element of many, as kernel text.
struct reduction {
  element_type type;  ///< of the elements before and after
  /// An expression of a and b, which has to be commutative and associative. float16 and bfloat16
  /// are computed with as float; every other type as itself.
  std::string operation;
  /// The neutral element: operation(x, identity) is x.
  std::string identity;
  /// Goes before the kernel: what the expressions and a struct as element type need.
  std::string definitions{};
};

/// The sum of the elements. @throws type_error if the type is a struct
reduction sum_of(element_type type);
/// The least element. NaN is passed over, where there is anything else. @throws type_error for a
/// struct and complex numbers
reduction min_of(element_type type);
/// The greatest element; the rest as for min_of.
reduction max_of(element_type type);

}  // namespace tune::operations
