// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "libtune/base/dtype.hpp"

namespace tune::operations {

/// A way to combine many elements into one, as kernel text.
struct reduction {
  element_type type;  ///< the type of the elements and of the result
  /// A commutative and associative expression of a and b. It is computed in float for float16 and
  /// bfloat16, and in the type itself for other types.
  std::string operation;
  /// The neutral element: operation(x, identity) is x.
  std::string identity;
  /// Precedes the kernel: definitions for the expressions and for a struct as element type.
  std::string definitions{};
};

/// The sum of the elements. @throws type_error if the type is a struct
reduction sum_of(element_type type);
/// The least element. NaN is ignored unless all elements are NaN. @throws type_error for a struct
/// and complex numbers
reduction min_of(element_type type);
/// The greatest element; otherwise like min_of.
reduction max_of(element_type type);

}  // namespace tune::operations
