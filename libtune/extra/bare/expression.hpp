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
/// 0". It means what it means in Python, in which such texts are written elsewhere:
///
///   or || · and && · not · comparisons, which may be chained, in, not in · | · ^ · & · << >> ·
///   + - · * / // % · - + ~ ! · **
///
/// from the weakest to the strongest, `a if c else b` below all of them, brackets, lists after
/// `in`, and the functions min, max, abs, int, float, bool, round, floor, ceil, sqrt, log2 and pow,
/// also with "math." before them. `/` is the division of real numbers, `//` rounds down, `%` takes
/// the sign of its right side. Whole numbers are exact as long as 64 bits with a sign hold them,
/// then real; a whole and a real number are compared exactly.
/// Literals are whole and real numbers, True, False, true, false, and texts in quotes. A text has
/// at most 100,000 characters, brackets and signs nest up to 100 deep, and at most 1,000 operators
/// follow each other as those of a sum do.
///
/// Immutable, so thread-safe; copies share what they have.
class expression {
 public:
  /// @throws argument_error that shows the text, the column and what was expected there
  explicit expression(std::string text);

  /// The text as it was given.
  const std::string& text() const noexcept;
  /// The names that it reads, in the order in which they come first; each once.
  const std::vector<std::string>& names() const noexcept;

  /// The result: a bool, a std::int64_t, a double or a std::string. Values that are not read may
  /// be anything. @throws argument_error that shows the text, if a name has no value or an
  ///         operator cannot be applied, such as to divide by zero
  value evaluate(const std::vector<named_value>& values) const;
  /// The result as a number. @throws argument_error also if it is no number
  double number(const std::vector<named_value>& values) const;
  /// The result as a condition: anything but false, zero and an empty text. @throws as evaluate
  bool holds(const std::vector<named_value>& values) const;

  /// The parts that `and` joins, each an expression of its own; itself where there is but one.
  std::vector<expression> parts() const;
  /// The restrictions that it stands for: one for each part that `and` joins, which reads the
  /// parameters that it names, described by its text. So a space asks each part as early as it can:
  /// one that has no value for some candidates not before the parts in front of it, which may be
  /// there to say no for these ("a * c > 0 and b % a == 0").
  /// @throws argument_error if a name is none of a parameter
  std::vector<restriction> restrictions(const std::vector<parameter>& parameters) const;

 private:
  std::shared_ptr<const detail::formulas::formula> formula_;
};

}  // namespace tune
