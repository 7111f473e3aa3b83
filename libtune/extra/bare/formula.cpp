// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/bare/formula.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <optional>
#include <system_error>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/plain_text.hpp"

namespace tune::detail::formulas {
namespace {

struct word {
  std::string_view text;
  op meaning;
};

constexpr std::array comparisons{word{"<=", op::less_equal}, word{">=", op::greater_equal},
                                 word{"==", op::equal},      word{"!=", op::unequal},
                                 word{"<", op::less},        word{">", op::greater}};

constexpr std::array functions{
    word{"min", op::min},     word{"max", op::max},        word{"abs", op::abs},
    word{"int", op::to_int},  word{"float", op::to_float}, word{"bool", op::to_bool},
    word{"round", op::round}, word{"floor", op::floor},    word{"ceil", op::ceil},
    word{"sqrt", op::sqrt},   word{"log2", op::log2},      word{"pow", op::power}};

bool starts_name(char c) { return is_word(c) && !is_digit(c); }

// One function for each precedence of operators, the weakest first.
class parser {
 public:
  explicit parser(formula& to) : to_(to) {}

  void run() {
    if (to_.text.size() > most_characters) {
      throw argument_error(fmt::format("the expression '{} ...' has {} characters; the most are {}",
                                       to_.text.substr(0, 60), to_.text.size(), most_characters));
    }
    skip_blanks();
    to_.root = parse_choice();
    if (at_ < to_.text.size()) fail("an operator or the end");
  }

 private:
  // Limits the recursion of the parser and of functions that traverse its nodes.
  static constexpr std::size_t most_characters = 100'000;
  static constexpr int most_depth = 100;
  static constexpr std::size_t most_height = 1000;

  [[noreturn]] void fail(std::string_view expected) const {
    const bool over = at_ >= to_.text.size();
    throw argument_error(fmt::format(
        "the expression '{}' is no formula: {} is expected at column {}, where {}", to_.text,
        expected, at_ + 1, over ? "it ends" : fmt::format("'{}' is", to_.text.substr(at_, 12))));
  }

  void skip_blanks() {
    while (at_ < to_.text.size() && (to_.text[at_] == ' ' || to_.text[at_] == '\t' ||
                                     to_.text[at_] == '\n' || to_.text[at_] == '\r')) {
      ++at_;
    }
  }

  bool looks_at(std::string_view token) const {
    if (to_.text.compare(at_, token.size(), token) != 0) return false;
    const std::size_t next = at_ + token.size();
    return !starts_name(token.front()) || next >= to_.text.size() || !is_word(to_.text[next]);
  }

  bool accept(std::string_view token) {
    if (!looks_at(token)) return false;
    at_ += token.size();
    end_ = at_;
    skip_blanks();
    return true;
  }

  void expect(std::string_view token) {
    if (!accept(token)) fail(fmt::format("'{}'", token));
  }

  node_index make(op what, std::vector<node_index> children) {
    std::size_t height = 1;
    for (const node_index child : children) height = std::max(height, heights_[child] + 1);
    if (height > most_height) fail("fewer operators in a row");
    heights_.push_back(height);
    to_.nodes.push_back({what, std::move(children)});
    return static_cast<node_index>(to_.nodes.size() - 1);
  }

  // The end of the last token, without the blanks after it.
  node_index place(node_index made, std::size_t begin) {
    to_.nodes[made].begin = begin;
    to_.nodes[made].end = end_;
    return made;
  }

  node_index parse_choice() {
    if (++depth_ > most_depth) fail("less nesting");
    node_index made = parse_any();
    if (accept("if")) {
      const node_index condition = parse_any();
      expect("else");
      made = make(op::if_else, {made, condition, parse_choice()});
    }
    --depth_;
    return made;
  }

  template <class Next>
  node_index join(op what, std::string_view word, std::string_view sign, Next next) {
    std::size_t begin = at_;
    std::vector<node_index> parts{place(next(), begin)};
    while (accept(word) || accept(sign)) {
      begin = at_;
      parts.push_back(place(next(), begin));
    }
    return parts.size() == 1 ? parts[0] : make(what, std::move(parts));
  }

  node_index parse_any() {
    return join(op::any_of, "or", "||", [this] { return parse_all(); });
  }
  node_index parse_all() {
    return join(op::all_of, "and", "&&", [this] { return parse_not(); });
  }

  node_index parse_not() {
    if (!accept("not")) return parse_comparison();
    if (++depth_ > most_depth) fail("less nesting");
    const node_index made = make(op::negate_truth, {parse_not()});
    --depth_;
    return made;
  }

  node_index parse_comparison() {
    std::vector<node_index> parts{parse_binary(0)};
    std::vector<op> between;
    for (;;) {
      const bool refused = accept("not");
      if (accept("in")) return parse_members(refused ? op::not_in : op::in, parts, between);
      if (refused) fail("'in'");
      const auto found =
          std::ranges::find_if(comparisons, [this](const word& w) { return looks_at(w.text); });
      // Excludes the shifts, which parse_binary reads.
      if (found == comparisons.end()) break;
      accept(found->text);
      between.push_back(found->meaning);
      parts.push_back(parse_binary(0));
    }
    if (between.empty()) return parts[0];
    const node_index made = make(op::compare, std::move(parts));
    to_.nodes[made].between = std::move(between);
    return made;
  }

  node_index parse_members(op what, std::vector<node_index> parts, const std::vector<op>& before) {
    if (!before.empty()) fail("a bracket before the comparison that 'in' continues");
    const std::string_view closing = accept("[") ? "]" : accept("{") ? "}" : ")";
    if (closing == ")") expect("(");
    while (!accept(closing)) {
      parts.push_back(parse_choice());
      if (!accept(",") && !looks_at(closing)) fail(fmt::format("',' or '{}'", closing));
    }
    return make(what, std::move(parts));
  }

  struct level {
    std::array<word, 4> operators;
    std::size_t count;
  };
  static constexpr std::array<level, 6> levels{{
      {{{{"|", op::bit_or}}}, 1},
      {{{{"^", op::bit_xor}}}, 1},
      {{{{"&", op::bit_and}}}, 1},
      {{{{"<<", op::shift_left}, {">>", op::shift_right}}}, 2},
      {{{{"+", op::add}, {"-", op::subtract}}}, 2},
      {{{{"//", op::floor_divide}, {"*", op::multiply}, {"/", op::divide}, {"%", op::modulo}}}, 4},
  }};

  std::optional<op> accept_operator(const level& of) {
    for (std::size_t i = 0; i < of.count; ++i) {
      const word& each = of.operators[i];
      // "&&", "||" and "**" are other operators.
      const bool doubled = each.text.size() == 1 && at_ + 1 < to_.text.size() &&
                           to_.text[at_ + 1] == each.text[0] &&
                           std::string_view("&|*").find(each.text) != std::string_view::npos;
      if (!doubled && accept(each.text)) return each.meaning;
    }
    return std::nullopt;
  }

  node_index parse_binary(std::size_t strength) {
    if (strength == levels.size()) return parse_unary();
    node_index made = parse_binary(strength + 1);
    while (const auto what = accept_operator(levels[strength])) {
      made = make(*what, {made, parse_binary(strength + 1)});
    }
    return made;
  }

  node_index parse_unary() {
    static constexpr std::array signs{word{"-", op::minus}, word{"+", op::plus},
                                      word{"~", op::invert}, word{"!", op::negate_truth}};
    for (const word& sign : signs) {
      if (!accept(sign.text)) continue;
      if (++depth_ > most_depth) fail("less nesting");
      const node_index made = make(sign.meaning, {parse_unary()});
      --depth_;
      return made;
    }
    const node_index base = parse_operand();
    if (!accept("**")) return base;
    if (++depth_ > most_depth) fail("less nesting");
    const node_index made = make(op::power, {base, parse_unary()});
    --depth_;
    return made;
  }

  node_index parse_operand() {
    if (at_ >= to_.text.size()) fail("a value");
    const char first = to_.text[at_];
    if (accept("(")) {
      const node_index made = parse_choice();
      expect(")");
      return made;
    }
    if (is_digit(first) || first == '.') return parse_number();
    if (first == '"' || first == '\'') return parse_text(first);
    if (!starts_name(first)) fail("a value");
    return parse_name();
  }

  node_index add_literal(scalar constant) {
    const node_index made = make(op::literal, {});
    to_.nodes[made].constant = constant;
    end_ = at_;
    skip_blanks();
    return made;
  }

  node_index parse_number() {
    const char* const begin = to_.text.data() + at_;
    const char* const end = to_.text.data() + to_.text.size();
    const bool hexadecimal = looks_like_hexadecimal();
    std::int64_t whole = 0;
    const auto as_whole = hexadecimal ? std::from_chars(begin + 2, end, whole, 16)
                                      : std::from_chars(begin, end, whole);
    double real = 0;
    const auto as_real = std::from_chars(begin, end, real);
    const bool is_whole =
        as_whole.ec == std::errc() && (hexadecimal || as_whole.ptr == as_real.ptr);
    const char* const behind = is_whole ? as_whole.ptr : as_real.ptr;
    if (!is_whole && as_real.ec != std::errc()) fail("a number");
    at_ = static_cast<std::size_t>(behind - to_.text.data());
    if (behind != end && (is_word(*behind) || *behind == '.')) fail("an operator or the end");
    return add_literal(is_whole ? scalar::of(whole) : scalar::of(real));
  }

  bool looks_like_hexadecimal() const {
    return at_ + 2 < to_.text.size() && to_.text[at_] == '0' && (to_.text[at_ + 1] | 32) == 'x';
  }

  node_index parse_text(char quote) {
    const std::size_t close = to_.text.find(quote, at_ + 1);
    if (close == std::string::npos) {
      at_ = to_.text.size();
      fail("a quote");
    }
    to_.texts.push_back(
        std::make_unique<const std::string>(to_.text.substr(at_ + 1, close - at_ - 1)));
    at_ = close + 1;
    return add_literal(scalar::of(std::string_view(*to_.texts.back())));
  }

  node_index parse_name() {
    static constexpr std::array<std::string_view, 6> reserved{"and", "or", "not",
                                                              "in",  "if", "else"};
    for (const std::string_view word : reserved) {
      if (looks_at(word)) fail("a value");
    }
    if (accept("True") || accept("true")) return add_literal(scalar::of(true));
    if (accept("False") || accept("false")) return add_literal(scalar::of(false));
    const std::size_t begin = at_;
    if (to_.text.compare(at_, 5, "math.") == 0) at_ += 5;
    const std::size_t begin_of_word = at_;
    while (at_ < to_.text.size() && is_word(to_.text[at_])) ++at_;
    std::string name = to_.text.substr(begin_of_word, at_ - begin_of_word);
    end_ = at_;
    skip_blanks();
    if (looks_at("(")) return parse_call(name, begin);
    if (begin_of_word != begin) fail("'('");
    return add_name(std::move(name));
  }

  node_index add_name(std::string name) {
    const auto known = std::ranges::find(to_.names, name);
    const node_index made = make(op::name, {});
    to_.nodes[made].place = static_cast<std::size_t>(known - to_.names.begin());
    if (known == to_.names.end()) to_.names.push_back(std::move(name));
    return made;
  }

  node_index parse_call(const std::string& name, std::size_t begin) {
    const auto found = std::ranges::find(functions, std::string_view(name), &word::text);
    if (found == functions.end()) {
      at_ = begin;
      std::vector<std::string_view> all;
      for (const word& each : functions) all.push_back(each.text);
      fail(fmt::format("one of the functions {}", fmt::join(all, ", ")));
    }
    accept("(");
    std::vector<node_index> given{parse_choice()};
    while (accept(",")) given.push_back(parse_choice());
    const bool many = found->meaning == op::min || found->meaning == op::max;
    const std::size_t wanted = found->meaning == op::power ? 2 : 1;
    if (!many && given.size() != wanted) fail(fmt::format("{} value(s) for '{}'", wanted, name));
    expect(")");
    return make(found->meaning, std::move(given));
  }

  formula& to_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  int depth_ = 0;
  std::vector<std::size_t> heights_;  // of the nodes
};

}  // namespace

formula::formula(std::string of) : text(std::move(of)) { parser(*this).run(); }

}  // namespace tune::detail::formulas
