// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/extra/bare/formula/operand.hpp"

namespace tune::detail::formulas {

/// A word, sign, number or text of a formula.
struct token {
  enum class kinds : std::uint8_t { word, sign, number, text, end };

  kinds kind;
  std::string_view text;  // as in the formula
  std::size_t begin;
  operand constant{};  // of a number or text

  bool is(std::string_view wanted) const {
    return text == wanted && (kind == kinds::word || kind == kinds::sign);
  }
};

/// The tokens of a formula by Python's rules, the last one of kind end. Blanks, line ends, comments
/// and backslashes before a line end separate tokens. Views into the text.
/// @param in  owns the texts of the literals
/// @throws argument_error as refuse_syntax, for a text without an end, an unknown escape or prefix,
///         and a number that Python would not read
std::vector<token> read_tokens(std::string_view text, workspace& in);

/// @throws argument_error "the expression '...' is no formula: ... is expected at column ..."
[[noreturn]] void refuse_syntax(std::string_view text, std::string_view expected, std::size_t at);

}  // namespace tune::detail::formulas
