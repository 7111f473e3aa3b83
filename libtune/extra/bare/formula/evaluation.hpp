// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/extra/bare/formula/syntax.hpp"

namespace tune::detail::formulas {

/// The values of a formula's names, by their place in formula::names.
class name_values {
 public:
  name_values() = default;
  virtual ~name_values() = default;
  name_values(const name_values&) = delete;
  name_values& operator=(const name_values&) = delete;

  /// The owner of a text must outlive the evaluation. @throws not_applicable for a missing value
  virtual operand at(std::size_t place) const = 0;
};

/// The value of a node. It may refer to texts and sequences of the workspace.
/// @throws argument_error "the expression '...' has no value: ..., at column ..."
operand evaluate(const formula& of, node_index from, const name_values& names, workspace& in);

/// As above, but the reason alone. @throws not_applicable
operand try_to_evaluate(const formula& of, node_index from, const name_values& names,
                        workspace& in);

/// The items of a formula that is a list, a tuple or a range, without names.
/// @throws argument_error, also if it is something else, or an item is no value
std::vector<value> evaluate_list(const formula& of);

}  // namespace tune::detail::formulas
