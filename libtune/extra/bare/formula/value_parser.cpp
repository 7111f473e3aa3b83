// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <limits>
#include <utility>

#include "libtune/extra/bare/formula/parser.hpp"

namespace tune::detail::formulas {
namespace {

constexpr std::array<std::string_view, 12> reserved{
    "and", "or", "not", "in", "is", "if", "for", "else", "lambda", "await", "yield", "async"};

constexpr std::size_t most_clauses = 100;  // each is a level of the evaluation's recursion

bool is_reserved(std::string_view word) {
  return std::ranges::find(reserved, word) != reserved.end();
}

struct named_number {
  std::string_view name;
  double number;
};

constexpr double pi = 3.141592653589793;
constexpr std::array constants{named_number{"pi", pi}, named_number{"tau", 2 * pi},
                               named_number{"e", 2.718281828459045},
                               named_number{"inf", std::numeric_limits<double>::infinity()},
                               named_number{"nan", std::numeric_limits<double>::quiet_NaN()}};

}  // namespace

node_index parser::parse_primary() {
  node_index made = parse_value();
  for (;;) {
    const std::size_t at = at_;
    if (accept("[")) {
      const node_index index = parse_choice();
      expect("]");
      made = make(op::index, {made, index}, at);
    } else if (looks_at(".")) {
      made = parse_method(made);
    } else {
      return made;
    }
  }
}

node_index parser::parse_value() {
  const std::size_t at = at_;
  if (accept("(")) return parse_bracket(at);
  if (accept("[")) return parse_items(op::list, "]", at);
  if (accept("{")) return parse_set(at);
  if (now().kind == token::kinds::number) return add_literal(tokens_[at_++].constant, at);
  if (now().kind == token::kinds::text) return parse_text();
  if (now().kind != token::kinds::word) fail("a value");
  return parse_word();
}

node_index parser::add_literal(const operand& constant, std::size_t at) {
  const node_index made = make(op::literal, {}, at);
  to_.nodes[made].constant = constant;
  return made;
}

// Texts in a row are one text.
node_index parser::parse_text() {
  const std::size_t at = at_;
  std::string joined;
  for (; now().kind == token::kinds::text; ++at_) joined += now().constant.text;
  const bool is_one = at_ == at + 1;
  return add_literal(
      is_one ? tokens_[at].constant : operand::of(to_.literals.keep(std::move(joined))), at);
}

// After an open bracket: the `for` that belongs to it.
std::optional<std::size_t> parser::find_for() const {
  int depth = 0;
  for (std::size_t i = at_; tokens_[i].kind != token::kinds::end; ++i) {
    const token& each = tokens_[i];
    if (depth == 0 && each.is("for")) return i;
    if (each.is("(") || each.is("[") || each.is("{")) ++depth;
    if (each.is(")") || each.is("]") || each.is("}")) --depth;
    if (depth < 0 || (depth == 0 && each.is(","))) return std::nullopt;
  }
  return std::nullopt;
}

std::vector<clause> parser::parse_clauses() {
  std::vector<clause> clauses;
  while (looks_at("for") || looks_at("if")) {
    if (clauses.size() == most_clauses) fail("fewer clauses");
    clause& made = clauses.emplace_back(clause{.is_loop = looks_at("for")});
    const token& name = tokens_[++at_];
    if (made.is_loop) {
      if (name.kind != token::kinds::word || is_reserved(name.text)) fail("a name");
      ++at_;
      expect("in");
    }
    made.of = parse_any();
    if (!made.is_loop) continue;
    made.local = to_.locals++;
    locals_.push_back({name.text, made.local});
  }
  return clauses;
}

// The item is read after the clauses, which name its variables.
node_index parser::parse_comprehension(std::size_t first_for) {
  const std::size_t item = at_;
  const std::size_t known = locals_.size();
  at_ = first_for;
  std::vector<clause> clauses = parse_clauses();
  const std::size_t end = at_;
  at_ = item;
  std::vector<node_index> parts{parse_choice()};
  if (at_ != first_for) fail("an operator or 'for'");
  at_ = end;
  locals_.resize(known);
  for (const clause& each : clauses) parts.push_back(each.of);
  const node_index made = make(op::comprehension, std::move(parts), item);
  to_.nodes[made].clauses = std::move(clauses);
  return made;
}

node_index parser::parse_bracket(std::size_t at) {
  if (accept(")")) return make(op::tuple, {}, at);
  if (find_for()) fail_at("a list in place of a generator", tokens_[at].begin);
  const node_index first = parse_choice();
  if (accept(")")) return first;
  expect(looks_at(",") ? "," : ")");
  std::vector<node_index> items{first};
  collect_items(items, ")");
  return make(op::tuple, std::move(items), at);
}

void parser::collect_items(std::vector<node_index>& items, std::string_view close) {
  while (!accept(close)) {
    items.push_back(parse_choice());
    if (!accept(",") && !looks_at(close)) fail(fmt::format("',' or '{}'", close));
  }
}

node_index parser::parse_items(op what, std::string_view close, std::size_t at) {
  std::vector<node_index> items;
  const auto first_for = find_for();
  if (!first_for) {
    collect_items(items, close);
    return make(what, std::move(items), at);
  }
  const node_index made = parse_comprehension(*first_for);
  if (!accept(close)) fail(fmt::format("'for', 'if' or '{}'", close));
  return made;
}

// An empty one is an empty dictionary in Python, in which nothing is either.
node_index parser::parse_set(std::size_t at) {
  if (find_for()) fail_at("a list in place of a set with 'for'", tokens_[at].begin);
  return parse_items(op::set, "}", at);
}

node_index parser::parse_word() {
  const std::size_t at = at_;
  const std::string_view word = now().text;
  if (is_reserved(word)) fail("a value");
  if (accept("True") || accept("true")) return add_literal(operand::of(true), at);
  if (accept("False") || accept("false")) return add_literal(operand::of(false), at);
  if (accept("None")) return add_literal({}, at);
  ++at_;
  if (word == "math" && accept(".")) return parse_math(at);
  if (looks_at("(")) return parse_call(word, at, function::places::builtin);
  const auto local = std::ranges::find(locals_.rbegin(), locals_.rend(), word, &variable::name);
  if (local == locals_.rend()) return add_name(std::string(word), at);
  const node_index made = make(op::local, {}, at);
  to_.nodes[made].place = local->place;
  return made;
}

node_index parser::add_name(std::string name, std::size_t at) {
  const auto known = std::ranges::find(to_.names, name);
  const node_index made = make(op::name, {}, at);
  to_.nodes[made].place = static_cast<std::size_t>(known - to_.names.begin());
  if (known == to_.names.end()) to_.names.push_back(std::move(name));
  return made;
}

node_index parser::parse_math(std::size_t at) {
  const std::string_view word = now().text;
  const auto* const found = std::ranges::find(constants, word, &named_number::name);
  if (now().kind == token::kinds::word) ++at_;
  if (found != constants.end()) return add_literal(operand::of(found->number), at);
  return parse_call(word, at, function::places::math);
}

}  // namespace tune::detail::formulas
