// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace tune::detail::formulas {

/// A value that is cheap to copy: texts are owned by the formula or a parameter.
struct scalar {
  enum class kinds : std::uint8_t { boolean, whole, real, text } kind = kinds::whole;
  std::int64_t whole = 0;  // also the value of a boolean
  double real = 0;
  std::string_view text{};

  static scalar of(bool v) { return {kinds::boolean, v, 0, {}}; }
  static scalar of(std::int64_t v) { return {kinds::whole, v, 0, {}}; }
  static scalar of(double v) { return {kinds::real, 0, v, {}}; }
  static scalar of(std::string_view v) { return {kinds::text, 0, 0, v}; }

  bool is_text() const { return kind == kinds::text; }
  bool is_real() const { return kind == kinds::real; }
  double number() const { return is_real() ? real : static_cast<double>(whole); }
  bool truth() const { return is_text() ? !text.empty() : is_real() ? real != 0 : whole != 0; }
};

/// The operation of a node of a formula.
enum class op : std::uint8_t {
  literal,
  name,
  any_of,
  all_of,
  negate_truth,
  compare,
  if_else,
  in,
  not_in,
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
  minus,
  plus,
  invert,
  min,
  max,
  abs,
  to_int,
  to_float,
  to_bool,
  round,
  floor,
  ceil,
  sqrt,
  log2,
  less,
  less_equal,
  greater,
  greater_equal,
  equal,
  unequal,
};

using node_index = std::uint32_t;

/// An operation with its operands, which are nodes, too.
struct node {
  op what;
  std::vector<node_index> children{};
  std::vector<op> between{};  // for a chain of comparisons, or the operands of a product
  std::size_t place = 0;      // of a name, in names
  scalar constant{};          // for a literal other than a text
  std::size_t begin = 0;      // in the text, for the parts that `and` joins
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
  std::vector<std::string> names;  // each once, in the order of their first occurrence
  std::vector<node> nodes;
  std::vector<std::unique_ptr<const std::string>> texts;  // of literals
  node_index root = 0;
};

}  // namespace tune::detail::formulas
