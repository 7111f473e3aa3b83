// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <forward_list>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/base/value.hpp"

namespace tune::detail::formulas {

struct sequence;

/// A value while a formula is evaluated. Cheap to copy: the formula, a parameter or a workspace
/// owns its text or sequence.
struct operand {
  enum class kinds : std::uint8_t { none, boolean, whole, real, text, many };

  kinds kind = kinds::none;
  std::int64_t whole = 0;  // also the value of a boolean
  double real = 0;
  std::string_view text{};
  const sequence* many = nullptr;

  static operand of(bool v) { return {kinds::boolean, v, 0, {}, nullptr}; }
  static operand of(std::int64_t v) { return {kinds::whole, v, 0, {}, nullptr}; }
  static operand of(double v) { return {kinds::real, 0, v, {}, nullptr}; }
  static operand of(std::string_view v) { return {kinds::text, 0, 0, v, nullptr}; }
  static operand of(const sequence& v) { return {kinds::many, 0, 0, {}, &v}; }

  bool is_none() const { return kind == kinds::none; }
  bool is_boolean() const { return kind == kinds::boolean; }
  bool is_real() const { return kind == kinds::real; }
  bool is_text() const { return kind == kinds::text; }
  bool is_many() const { return kind == kinds::many; }
  bool is_whole() const { return kind == kinds::whole || kind == kinds::boolean; }
  bool is_number() const { return is_whole() || is_real(); }
  /// The number of a boolean, whole or real one.
  double number() const { return is_real() ? real : static_cast<double>(whole); }
  /// As Python's bool().
  bool truth() const;
};

/// A list, a tuple, a set or a range. The items of a set are different.
struct sequence {
  enum class kinds : std::uint8_t { list, tuple, set, range };

  kinds kind = kinds::list;
  std::vector<operand> items{};  // of all but a range
  std::int64_t first = 0;        // of a range
  std::int64_t step = 1;
  std::size_t count = 0;

  std::size_t size() const { return kind == kinds::range ? count : items.size(); }
  operand at(std::size_t place) const;
};

/// Owns the texts and sequences that an evaluation makes, and limits their number.
class workspace {
 public:
  /// @throws not_applicable if the evaluation has made too many characters or items
  std::string_view keep(std::string text);
  const sequence& keep(sequence made);
  /// Counts items that are visited. @throws not_applicable likewise
  void count(std::size_t items);

 private:
  static constexpr std::size_t most_items = 2'000'000;

  std::forward_list<std::string> texts_;
  std::forward_list<sequence> sequences_;
  std::size_t counted_ = 0;
};

/// The reason for a formula without a value. The expression adds its text.
struct not_applicable {
  std::string problem;
};

[[noreturn]] void refuse(std::string problem);

/// The name of a value in messages: "a text, 'float'", "the number 3".
std::string described(const operand& of);

/// A text, number or none. The text of the value must outlive the operand.
operand operand_of(const value& v);
/// @throws not_applicable for a sequence, which no value holds
value value_of(const operand& of);

}  // namespace tune::detail::formulas
