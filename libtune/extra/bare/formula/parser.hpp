// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/extra/bare/formula/lexer.hpp"
#include "libtune/extra/bare/formula/syntax.hpp"

namespace tune::detail::formulas {

/// Reads a formula: one function for each precedence of operators, the weakest first.
class parser {
 public:
  /// @throws argument_error for a text that is too long, and as read_tokens
  explicit parser(formula& to);

  /// @throws argument_error as formula
  void run();

 private:
  /// The variable of a comprehension.
  struct variable {
    std::string_view name;
    std::size_t place = 0;
  };

  /// Counts a level of nesting during its life.
  class deeper {
   public:
    explicit deeper(parser& in);
    deeper(const deeper&) = delete;
    deeper& operator=(const deeper&) = delete;
    ~deeper() { --in_.depth_; }

   private:
    parser& in_;
  };

  const token& now() const { return tokens_[at_]; }
  bool looks_at(std::string_view wanted) const { return now().is(wanted); }
  [[noreturn]] void fail(std::string_view expected) const { fail_at(expected, now().begin); }
  [[noreturn]] void fail_at(std::string_view expected, std::size_t place) const {
    refuse_syntax(to_.text, expected, place);
  }
  bool accept(std::string_view wanted);
  void expect(std::string_view wanted);
  /// @param at  the token that messages point to
  node_index make(op what, std::vector<node_index> children, std::size_t at);
  /// Gives a node the text from a token to the last one.
  node_index place(node_index made, std::size_t first);

  // Operators, in parser.cpp.
  node_index parse_choice();
  template <class Next>
  node_index join(op what, std::string_view word, std::string_view other, Next next);
  node_index parse_any();
  node_index parse_all();
  node_index parse_not();
  std::optional<op> accept_comparison();
  bool is_literal(node_index of) const;
  void check_comparison(op what, node_index left, node_index right, std::size_t sign,
                        std::size_t first) const;
  node_index parse_comparison();
  node_index parse_binary(std::size_t strength);
  node_index parse_unary();

  // Values, in value_parser.cpp.
  node_index parse_primary();
  node_index parse_value();
  node_index add_literal(const operand& constant, std::size_t at);
  node_index parse_text();
  std::optional<std::size_t> find_for() const;
  std::vector<clause> parse_clauses();
  node_index parse_comprehension(std::size_t first_for);
  node_index parse_bracket(std::size_t at);
  void collect_items(std::vector<node_index>& items, std::string_view close);
  node_index parse_items(op what, std::string_view close, std::size_t at);
  node_index parse_set(std::size_t at);
  node_index parse_word();
  node_index add_name(std::string name, std::size_t at);
  node_index parse_math(std::size_t at);

  // Calls, in call_parser.cpp.
  [[noreturn]] void refuse_function(function::places place, std::size_t at) const;
  node_index parse_call(std::string_view name, std::size_t at, function::places place);
  node_index parse_method(node_index of);
  void collect_operands(const function& called, std::vector<node_index>& given);
  node_index parse_operands(op what, std::size_t which, std::vector<node_index> given,
                            std::size_t at);

  formula& to_;
  std::vector<token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::vector<std::size_t> heights_;  // of the nodes
  std::vector<variable> locals_;      // of the comprehensions around
};

}  // namespace tune::detail::formulas
