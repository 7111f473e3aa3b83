// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/bare/formula/parser.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <utility>

#include "libtune/base/error.hpp"

namespace tune::detail::formulas {
namespace {

struct sign {
  std::string_view text;
  op meaning;
};

// The binary operators, the weakest first.
constexpr std::array<std::array<sign, 4>, 6> levels{{
    {{{"|", op::bit_or}}},
    {{{"^", op::bit_xor}}},
    {{{"&", op::bit_and}}},
    {{{"<<", op::shift_left}, {">>", op::shift_right}}},
    {{{"+", op::add}, {"-", op::subtract}}},
    {{{"//", op::floor_divide}, {"*", op::multiply}, {"/", op::divide}, {"%", op::modulo}}},
}};

constexpr std::array comparisons{sign{"<=", op::less_equal}, sign{">=", op::greater_equal},
                                 sign{"==", op::equal},      sign{"!=", op::unequal},
                                 sign{"<", op::less},        sign{">", op::greater}};

// Limits the recursion of the parser and of functions that traverse its nodes.
constexpr std::size_t most_characters = 100'000;
constexpr int most_depth = 100;
constexpr std::size_t most_height = 1000;

}  // namespace

formula::formula(std::string of) : text(std::move(of)) { parser(*this).run(); }

parser::parser(formula& to) : to_(to) {
  if (to_.text.size() > most_characters) {
    throw argument_error(fmt::format("the expression '{} ...' has {} characters; the most are {}",
                                     to_.text.substr(0, 60), to_.text.size(), most_characters));
  }
  tokens_ = read_tokens(to_.text, to_.literals);
}

void parser::run() {
  to_.root = parse_choice();
  if (now().kind != token::kinds::end) fail("an operator or the end");
}

parser::deeper::deeper(parser& in) : in_(in) {
  if (in_.depth_ >= most_depth) in_.fail("less nesting");
  ++in_.depth_;
}

bool parser::accept(std::string_view wanted) {
  if (!looks_at(wanted)) return false;
  ++at_;
  return true;
}

void parser::expect(std::string_view wanted) {
  if (!accept(wanted)) fail(fmt::format("'{}'", wanted));
}

node_index parser::make(op what, std::vector<node_index> children, std::size_t at) {
  std::size_t height = 1;
  for (const node_index child : children) height = std::max(height, heights_[child] + 1);
  if (height > most_height) fail("fewer operators in a row");
  heights_.push_back(height);
  node& made = to_.nodes.emplace_back(node{.what = what});
  made.children = std::move(children);
  made.column = tokens_[at].begin + 1;
  return static_cast<node_index>(to_.nodes.size() - 1);
}

node_index parser::place(node_index made, std::size_t first) {
  to_.nodes[made].begin = tokens_[first].begin;
  to_.nodes[made].end = tokens_[at_ - 1].begin + tokens_[at_ - 1].text.size();
  return made;
}

node_index parser::parse_choice() {
  const deeper level(*this);
  const node_index made = parse_any();
  const std::size_t at = at_;
  if (!accept("if")) return made;
  const node_index condition = parse_any();
  expect("else");
  return make(op::if_else, {made, condition, parse_choice()}, at);
}

template <class Next>
node_index parser::join(op what, std::string_view word, std::string_view other, Next next) {
  const std::size_t begin = at_;
  std::size_t first = at_;
  std::vector<node_index> parts{next()};
  place(parts[0], first);
  while (accept(word) || accept(other)) {
    first = at_;
    parts.push_back(next());
    place(parts.back(), first);
  }
  return parts.size() == 1 ? parts[0] : make(what, std::move(parts), begin);
}

node_index parser::parse_any() {
  return join(op::any_of, "or", "||", [this] { return parse_all(); });
}

node_index parser::parse_all() {
  return join(op::all_of, "and", "&&", [this] { return parse_not(); });
}

node_index parser::parse_not() {
  const std::size_t at = at_;
  if (!accept("not")) return parse_comparison();
  const deeper level(*this);
  return make(op::negate_truth, {parse_not()}, at);
}

std::optional<op> parser::accept_comparison() {
  if (accept("in")) return op::in;
  if (accept("is")) return accept("not") ? op::is_not : op::is;
  if (accept("not")) {
    expect("in");
    return op::not_in;
  }
  const auto* const found =
      std::ranges::find_if(comparisons, [this](const sign& s) { return looks_at(s.text); });
  if (found == comparisons.end()) return std::nullopt;
  ++at_;
  return found->meaning;
}

bool parser::is_literal(node_index of) const {
  const node& at = to_.nodes[of];
  return at.what == op::literal && !at.constant.is_none() && !at.constant.is_boolean();
}

// Whether numbers and texts are the same object depends on the interpreter.
void parser::check_comparison(op what, node_index left, node_index right, std::size_t sign,
                              std::size_t first) const {
  const bool is_identity = what == op::is || what == op::is_not;
  if (is_identity && (is_literal(left) || is_literal(right))) {
    fail_at(what == op::is ? "'=='" : "'!='", tokens_[sign].begin);
  }
  const bool is_member = what == op::in || what == op::not_in;
  if (is_member && is_literal(right) && !to_.nodes[right].constant.is_text()) {
    fail_at("a list, a range or a text", tokens_[first].begin);
  }
}

node_index parser::parse_comparison() {
  const std::size_t begin = at_;
  std::vector<node_index> parts{parse_binary(0)};
  std::vector<op> between;
  for (std::size_t sign = at_; const auto what = accept_comparison(); sign = at_) {
    const std::size_t first = at_;
    between.push_back(*what);
    parts.push_back(parse_binary(0));
    check_comparison(*what, parts[parts.size() - 2], parts.back(), sign, first);
  }
  if (between.empty()) return parts[0];
  const node_index made = make(op::compare, std::move(parts), begin);
  to_.nodes[made].between = std::move(between);
  return made;
}

node_index parser::parse_binary(std::size_t strength) {
  if (strength == levels.size()) return parse_unary();
  node_index made = parse_binary(strength + 1);
  for (;;) {
    const auto& level = levels[strength];
    const auto* const found = std::ranges::find_if(
        level, [this](const sign& s) { return !s.text.empty() && looks_at(s.text); });
    if (found == level.end()) return made;
    const std::size_t at = at_++;
    const node_index right = parse_binary(strength + 1);
    made = make(found->meaning, {made, right}, at);
  }
}

node_index parser::parse_unary() {
  static constexpr std::array prefixes{sign{"-", op::minus}, sign{"+", op::plus},
                                       sign{"~", op::invert}, sign{"!", op::negate_truth}};
  const std::size_t at = at_;
  for (const sign& prefix : prefixes) {
    if (!accept(prefix.text)) continue;
    const deeper level(*this);
    return make(prefix.meaning, {parse_unary()}, at);
  }
  const node_index base = parse_primary();
  const std::size_t power = at_;
  if (!accept("**")) return base;
  const deeper level(*this);
  const node_index exponent = parse_unary();
  return make(op::power, {base, exponent}, power);
}

}  // namespace tune::detail::formulas
