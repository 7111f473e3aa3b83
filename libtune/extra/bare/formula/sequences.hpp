// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "libtune/extra/bare/formula/operand.hpp"
#include "libtune/extra/bare/formula/syntax.hpp"

/// Python's lists, tuples, sets, ranges and texts: how they are made, joined and read. All
/// functions throw not_applicable where Python raises an exception.
namespace tune::detail::formulas {

/// The items of a sequence, or the characters of a text.
std::vector<operand> items_of(const operand& of);
/// The number of items, or of the characters of a text in UTF-8.
std::size_t length_of(const operand& of);
/// The item or character at a place, from the end if it is negative.
operand item_at(const operand& of, const operand& place, workspace& in);
/// Makes a list, tuple or set, the latter without repetitions.
operand make_sequence(sequence::kinds kind, std::vector<operand> items, workspace& in);
/// The value of + or * for a text, list or tuple; empty for others.
bool is_joinable(op what, const operand& a, const operand& b);
operand join(op what, const operand& a, const operand& b, workspace& in);

// Functions of the table.
operand make_range(const std::vector<operand>& given, workspace& in);
operand make_list(const std::vector<operand>& given, workspace& in);
operand make_tuple(const std::vector<operand>& given, workspace& in);
operand make_set(const std::vector<operand>& given, workspace& in);
operand sort_items(const std::vector<operand>& given, workspace& in);
operand starts_with(const std::vector<operand>& given, workspace& in);
operand ends_with(const std::vector<operand>& given, workspace& in);
operand to_lower(const std::vector<operand>& given, workspace& in);
operand to_upper(const std::vector<operand>& given, workspace& in);
operand strip_blanks(const std::vector<operand>& given, workspace& in);
operand count_of(const std::vector<operand>& given, workspace& in);

}  // namespace tune::detail::formulas
