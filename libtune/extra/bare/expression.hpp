// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/search/space/search_space.hpp"

namespace tune {

namespace detail::formulas {
class formula;
}

/// A formula over named values, such as "32 <= block_size_x * block_size_y <= 1024 and tile % 2 ==
/// 0". The syntax and meaning are Python's, because such texts often come from Python programs:
///
///   or || · and && · not · comparisons, which may be chained, in, not in, is, is not · | · ^ · & ·
///   << >> · + - · * / // % · - + ~ ! · **
///
/// in the order of increasing strength; `a if c else b` is weaker than all of them. There are
/// brackets, lists, tuples, sets, ranges, comprehensions, indices, Python's functions for numbers
/// and items (libtune/extra/bare/README.md lists them), those of its module "math", methods of
/// texts, comments, and backslashes before line ends. Literals are None, True, False, true, false,
/// numbers ("1_000", "0b101") and texts in quotes. Whole numbers are exact while they fit in 64
/// signed bits, and become real beyond that; a whole and a real number are compared exactly. A text
/// has at most 100,000 characters, brackets and signs nest up to 100 deep, and a chain such as a
/// sum has at most 1,000 operators.
///
/// Immutable, so thread-safe; copies share their data.
class expression {
 public:
  /// @throws argument_error that shows the text, the column and the expected syntax
  explicit expression(std::string text);

  /// The text as given.
  const std::string& text() const noexcept;
  /// The names in the formula, in the order of their first occurrence; each once.
  const std::vector<std::string>& names() const noexcept;

  /// The result: nothing for None, a bool, a std::int64_t, a double or a std::string. Values of
  /// other names are ignored. @throws argument_error that shows the text and the column, if a name
  /// has no value or an operator cannot be applied, as for a division by zero; if the result is a
  /// list
  value evaluate(const std::vector<named_value>& values) const;
  /// The result as a number. @throws argument_error also if it is not a number
  double number(const std::vector<named_value>& values) const;
  /// The result as a condition: false for None, false, zero, an empty text and an empty list.
  /// @throws as evaluate
  bool holds(const std::vector<named_value>& values) const;

  /// The operands of a top-level `and`, each as an expression; the expression itself if there is no
  /// `and`.
  std::vector<expression> parts() const;
  /// The equivalent restrictions: one for each operand of `and`, described by its text, which reads
  /// the parameters that it names. So a space checks each operand as early as possible. An operand
  /// without a value for some candidates is checked after those before it, which may guard it ("a *
  /// c > 0 and b % a == 0").
  /// @throws argument_error if a name is not a parameter
  std::vector<restriction> restrictions(const std::vector<parameter>& parameters) const;

 private:
  std::shared_ptr<const detail::formulas::formula> formula_;
};

}  // namespace tune
