// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "libtune/extra/bare/formula/operand.hpp"
#include "libtune/extra/bare/formula/syntax.hpp"

namespace tune::detail::formulas {

/// As Python's `==`: values of different kinds are unequal, numbers are compared exactly.
bool are_equal(const operand& a, const operand& b);
/// The value of an operator from op::less to op::is_not.
/// @throws not_applicable for an order of different kinds, a member of a number, and the
///         identity of numbers or texts, which Python does not define
bool holds_between(op what, const operand& a, const operand& b);
/// As Python's `in`. @throws not_applicable likewise
bool contains(const operand& in, const operand& wanted);

}  // namespace tune::detail::formulas
