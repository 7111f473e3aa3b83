// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/extra/bare/formula/operand.hpp"

namespace tune::detail::formulas {

/// The operation of a node of a formula.
enum class op : std::uint8_t {
  literal,
  name,
  local,  // the variable of a comprehension
  any_of,
  all_of,
  negate_truth,
  compare,
  if_else,
  list,
  tuple,
  set,
  comprehension,
  index,
  call,
  method,
  // operators of two operands
  bit_or,
  bit_xor,
  bit_and,
  shift_left,
  shift_right,
  add,
  subtract,
  multiply,
  divide,
  floor_divide,
  modulo,
  power,
  // operators of one operand
  minus,
  plus,
  invert,
  // comparisons
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  unequal,
  in,
  not_in,
  is,
  is_not,
};

using node_index = std::uint32_t;

/// A `for` or an `if` of a comprehension.
struct clause {
  bool is_loop = true;
  node_index of = 0;      // the iterated sequence, or the condition
  std::size_t local = 0;  // the place of the variable of a loop
};

/// An operation with its operands, which are nodes, too.
struct node {
  op what;
  std::vector<node_index> children{};
  std::vector<op> between{};      // the operators of a chain of comparisons
  std::vector<clause> clauses{};  // of a comprehension; its child is the item
  std::size_t place = 0;          // of a name, a local, or a function in its table
  operand constant{};             // of a literal
  bool is_lazy = false;           // a comprehension that any and all may leave early
  std::size_t column = 1;         // of its first or main token, for messages
  std::size_t begin = 0;          // in the text, for the parts that `and` joins
  std::size_t end = 0;
};

/// The syntax tree of an expression. Immutable once parsed, so thread-safe.
class formula {
 public:
  /// @throws argument_error that shows the text, the column and the expected syntax
  explicit formula(std::string of);
  formula(const formula&) = delete;
  formula& operator=(const formula&) = delete;

  std::string text;
  std::vector<std::string> names;  // each once, without those of comprehensions
  std::vector<node> nodes;
  workspace literals;  // owns their texts
  std::size_t locals = 0;
  node_index root = 0;
};

/// A function of Python's, of its module math, or a method of texts and sequences.
struct function {
  enum class places : std::uint8_t { builtin, math, both, method };

  std::string_view name;
  places place;
  std::size_t least;  // operands
  std::size_t most;
  operand (*apply)(const std::vector<operand>& given, workspace& in);
};

/// All functions; the place of a node of op::call or op::method is an index.
std::span<const function> functions();

}  // namespace tune::detail::formulas
