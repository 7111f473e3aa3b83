// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/space/expression.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "libtune/base/error.hpp"

// Named, because the class of the header has these for members.
namespace tune::detail::formulas {

// A value that is cheap to copy: texts are those of the formula or of a parameter.
struct scalar {
  enum class kinds : std::uint8_t { boolean, whole, real, text } kind = kinds::whole;
  std::int64_t whole = 0;  // of a boolean too
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

std::optional<scalar> scalar_of(const value& v) {
  if (const auto* b = std::get_if<bool>(&v)) return scalar::of(*b);
  if (const auto* i = std::get_if<std::int64_t>(&v)) return scalar::of(*i);
  if (const auto* d = std::get_if<double>(&v)) return scalar::of(*d);
  if (const auto* s = std::get_if<std::string>(&v)) return scalar::of(std::string_view(*s));
  const auto* u = std::get_if<std::uint64_t>(&v);
  if (u == nullptr) return std::nullopt;
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  return *u <= most ? scalar::of(static_cast<std::int64_t>(*u))
                    : scalar::of(static_cast<double>(*u));
}

value value_of(const scalar& s) {
  switch (s.kind) {
    case scalar::kinds::boolean: return s.whole != 0;
    case scalar::kinds::whole: return s.whole;
    case scalar::kinds::real: return s.real;
    case scalar::kinds::text: break;
  }
  return std::string(s.text);
}

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

using node_index = std::uint32_t;

struct node {
  op what;
  std::vector<node_index> children{};
  std::vector<op> between{};  // of a chain of comparisons, and of the operands of a product
  std::size_t place = 0;      // of a name, in names
  scalar constant{};          // of a literal that is no text
  std::size_t begin = 0;      // in the text, for the parts that `and` joins
  std::size_t end = 0;
};

// Thrown with the text added by the expression.
struct not_applicable {
  std::string problem;
};

[[noreturn]] void refuse(std::string problem) { throw not_applicable{std::move(problem)}; }

std::int64_t whole_of(const scalar& s, const char* what) {
  if (s.is_text()) refuse(fmt::format("{} a text, '{}'", what, s.text));
  if (!s.is_real()) return s.whole;
  if (!(std::abs(s.real) < 9.2e18)) refuse(fmt::format("{} {}, which is too large", what, s.real));
  return static_cast<std::int64_t>(s.real);
}

scalar to_whole(double v) {
  if (std::abs(v) < 9.2e18) return scalar::of(static_cast<std::int64_t>(v));
  return scalar::of(v);
}

std::int64_t floor_divide(std::int64_t a, std::int64_t b) {
  return a / b - static_cast<std::int64_t>(a % b != 0 && (a < 0) != (b < 0));
}

scalar raise(const scalar& a, const scalar& b) {
  if (a.is_real() || b.is_real() || b.whole < 0) {
    return scalar::of(std::pow(a.number(), b.number()));
  }
  std::int64_t result = 1;
  std::int64_t square = a.whole;
  for (std::int64_t left = b.whole; left != 0; left /= 2) {
    if (left % 2 != 0 && __builtin_mul_overflow(result, square, &result)) break;
    if (left == 1) return scalar::of(result);
    if (__builtin_mul_overflow(square, square, &square)) break;
  }
  return b.whole == 0 ? scalar::of(std::int64_t{1}) : scalar::of(std::pow(a.number(), b.number()));
}

scalar shift(op what, const scalar& a, const scalar& b) {
  const std::int64_t bits = whole_of(b, "cannot shift by");
  const std::int64_t number = whole_of(a, "cannot shift");
  if (bits < 0) refuse(fmt::format("cannot shift by {}", bits));
  if (what == op::shift_right) return scalar::of(number >> std::min<std::int64_t>(bits, 63));
  return bits > 62 || std::abs(number) > (std::numeric_limits<std::int64_t>::max() >> bits)
             ? scalar::of(std::ldexp(static_cast<double>(number), static_cast<int>(bits)))
             : scalar::of(number * (std::int64_t{1} << bits));
}

scalar calculate_real(op what, double a, double b) {
  switch (what) {
    case op::add: return scalar::of(a + b);
    case op::subtract: return scalar::of(a - b);
    case op::multiply: return scalar::of(a * b);
    default: break;
  }
  if (b == 0) refuse("a division by zero");
  if (what == op::divide) return scalar::of(a / b);
  if (what == op::floor_divide) return scalar::of(std::floor(a / b));
  return scalar::of(a - b * std::floor(a / b));
}

scalar calculate(op what, const scalar& a, const scalar& b) {
  if (a.is_text() || b.is_text()) {
    refuse(fmt::format("cannot calculate with a text, '{}'", a.is_text() ? a.text : b.text));
  }
  if (a.is_real() || b.is_real() || what == op::divide) {
    return calculate_real(what, a.number(), b.number());
  }
  std::int64_t made = 0;
  bool lost = false;
  switch (what) {
    case op::add: lost = __builtin_add_overflow(a.whole, b.whole, &made); break;
    case op::subtract: lost = __builtin_sub_overflow(a.whole, b.whole, &made); break;
    case op::multiply: lost = __builtin_mul_overflow(a.whole, b.whole, &made); break;
    default:
      if (b.whole == 0) refuse("a division by zero");
      lost = b.whole == -1;  // whose quotient may not fit
      if (!lost) {
        made = floor_divide(a.whole, b.whole);
        if (what == op::modulo) made = a.whole - made * b.whole;
      }
  }
  return lost ? to_whole(calculate_real(what, a.number(), b.number()).real) : scalar::of(made);
}

scalar apply_bits(op what, const scalar& a, const scalar& b) {
  if (what == op::shift_left || what == op::shift_right) return shift(what, a, b);
  const std::int64_t x = whole_of(a, "cannot take the bits of");
  const std::int64_t y = whole_of(b, "cannot take the bits of");
  const std::int64_t made = what == op::bit_or ? x | y : what == op::bit_xor ? x ^ y : x & y;
  const bool both = a.kind == scalar::kinds::boolean && b.kind == scalar::kinds::boolean;
  return both ? scalar::of(made != 0) : scalar::of(made);
}

template <class T>
bool compare_as(op what, const T& a, const T& b) {
  switch (what) {
    case op::less: return a < b;
    case op::less_equal: return a <= b;
    case op::greater: return a > b;
    case op::greater_equal: return a >= b;
    case op::equal: return a == b;
    default: return a != b;
  }
}

bool compare(op what, const scalar& a, const scalar& b) {
  if (a.is_text() && b.is_text()) return compare_as(what, a.text, b.text);
  if (a.is_text() || b.is_text()) {
    if (what == op::equal || what == op::unequal) return what == op::unequal;
    refuse(
        fmt::format("cannot compare a text, '{}', with a number", a.is_text() ? a.text : b.text));
  }
  if (a.is_real() || b.is_real()) return compare_as(what, a.number(), b.number());
  return compare_as(what, a.whole, b.whole);
}

scalar call(op what, const scalar& a) {
  if (a.is_text()) refuse(fmt::format("cannot calculate with a text, '{}'", a.text));
  const double x = a.number();
  switch (what) {
    case op::minus: return calculate(op::subtract, scalar::of(std::int64_t{0}), a);
    case op::plus: return a;
    case op::invert: return scalar::of(~whole_of(a, "cannot take the bits of"));
    case op::abs: return x < 0 ? call(op::minus, a) : a;
    case op::to_int: return a.is_real() ? to_whole(std::trunc(x)) : scalar::of(a.whole);
    case op::to_float: return scalar::of(x);
    case op::to_bool: return scalar::of(a.truth());
    case op::round: return a.is_real() ? to_whole(std::nearbyint(x)) : a;
    case op::floor: return a.is_real() ? to_whole(std::floor(x)) : a;
    case op::ceil: return a.is_real() ? to_whole(std::ceil(x)) : a;
    case op::sqrt:
      if (x < 0) refuse(fmt::format("no root of {}", x));
      return scalar::of(std::sqrt(x));
    default:
      if (x <= 0) refuse(fmt::format("no logarithm of {}", x));
      return scalar::of(std::log2(x));
  }
}

template <class Lookup>
class evaluation {
 public:
  evaluation(std::span<const node> nodes, const Lookup& look_up)
      : nodes_(nodes), look_up_(look_up) {}

  scalar operator()(node_index index) const {
    const node& at = nodes_[index];
    switch (at.what) {
      case op::literal: return at.constant;
      case op::name: return look_up_(at.place);
      case op::all_of:
      case op::any_of: return decide(at);
      case op::negate_truth: return scalar::of(!(*this)(at.children[0]).truth());
      case op::if_else: return (*this)(at.children[(*this)(at.children[1]).truth() ? 0 : 2]);
      case op::compare: return scalar::of(chain(at));
      case op::in:
      case op::not_in: return scalar::of(is_in(at) == (at.what == op::in));
      case op::min:
      case op::max: return extreme(at);
      default: break;
    }
    const scalar first = (*this)(at.children[0]);
    if (at.children.size() == 1) return call(at.what, first);
    const scalar second = (*this)(at.children[1]);
    if (at.what >= op::bit_or && at.what <= op::shift_right) {
      return apply_bits(at.what, first, second);
    }
    if (at.what != op::power) return calculate(at.what, first, second);
    if (first.is_text() || second.is_text()) refuse("cannot calculate with a text");
    return raise(first, second);
  }

 private:
  scalar decide(const node& at) const {
    scalar last;
    for (const node_index child : at.children) {
      last = (*this)(child);
      if (last.truth() == (at.what == op::any_of)) break;
    }
    return last;
  }

  bool chain(const node& at) const {
    scalar left = (*this)(at.children[0]);
    for (std::size_t i = 0; i < at.between.size(); ++i) {
      const scalar right = (*this)(at.children[i + 1]);
      if (!compare(at.between[i], left, right)) return false;
      left = right;
    }
    return true;
  }

  bool is_in(const node& at) const {
    const scalar wanted = (*this)(at.children[0]);
    return std::any_of(at.children.begin() + 1, at.children.end(), [&](node_index child) {
      return compare(op::equal, wanted, (*this)(child));
    });
  }

  scalar extreme(const node& at) const {
    scalar best = (*this)(at.children[0]);
    for (std::size_t i = 1; i < at.children.size(); ++i) {
      const scalar other = (*this)(at.children[i]);
      if (compare(at.what == op::min ? op::less : op::greater, other, best)) best = other;
    }
    return best;
  }

  std::span<const node> nodes_;
  const Lookup& look_up_;
};

inline bool starts_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_in_name(char c) { return starts_name(c) || is_digit(c); }

class formula {
 public:
  std::string text;
  std::vector<std::string> names;
  std::vector<node> nodes;
  std::vector<std::unique_ptr<const std::string>> texts;  // of literals
  node_index root = 0;

  template <class Lookup>
  scalar evaluate(node_index from, const Lookup& look_up) const {
    try {
      return evaluation<Lookup>(nodes, look_up)(from);
    } catch (const not_applicable& found) {
      throw argument_error(
          fmt::format("the expression '{}' has no value: {}", text, found.problem));
    }
  }

  void collect_places(node_index from, std::vector<std::size_t>& places) const {
    const node& at = nodes[from];
    if (at.what == op::name && std::ranges::find(places, at.place) == places.end()) {
      places.push_back(at.place);
    }
    for (const node_index child : at.children) collect_places(child, places);
  }

  // What `and` joins.
  void collect_parts(node_index from, std::vector<node_index>& parts) const {
    if (nodes[from].what != op::all_of) return parts.push_back(from);
    for (const node_index child : nodes[from].children) collect_parts(child, parts);
  }

  class parser;
};

// One function for each strength of operators, the weakest first.
class formula::parser {
 public:
  explicit parser(formula& to) : to_(to) {}

  void run() {
    skip_blanks();
    to_.root = parse_choice();
    if (at_ < to_.text.size()) fail("an operator or the end");
  }

 private:
  static constexpr int most_depth = 100;

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
    return !starts_name(token.front()) || next >= to_.text.size() || !is_in_name(to_.text[next]);
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
    to_.nodes.push_back({what, std::move(children)});
    return static_cast<node_index>(to_.nodes.size() - 1);
  }

  // The end of what was read last, without the blanks behind it.
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
      // Not the shifts, which parse_binary has taken.
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
    return accept("**") ? make(op::power, {base, parse_unary()}) : base;
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
    if (behind != end && (is_in_name(*behind) || *behind == '.')) fail("an operator or the end");
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
    while (at_ < to_.text.size() && is_in_name(to_.text[at_])) ++at_;
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
};

}  // namespace tune::detail::formulas

namespace tune {

expression::expression(std::string text) {
  auto made = std::make_shared<detail::formulas::formula>();
  made->text = std::move(text);
  detail::formulas::formula::parser(*made).run();
  formula_ = std::move(made);
}

const std::string& expression::text() const noexcept { return formula_->text; }
const std::vector<std::string>& expression::names() const noexcept { return formula_->names; }

value expression::evaluate(const std::vector<named_value>& values) const {
  using namespace detail::formulas;
  const auto look_up = [&](std::size_t place) -> scalar {
    const std::string& name = formula_->names[place];
    const auto found = std::ranges::find(values, name, &named_value::name);
    if (found == values.end()) refuse(fmt::format("'{}' is not among {}", name, to_string(values)));
    if (const auto made = scalar_of(found->value)) return *made;
    refuse(fmt::format("'{}' is none", name));
  };
  return value_of(formula_->evaluate(formula_->root, look_up));
}

double expression::number(const std::vector<named_value>& values) const {
  using namespace detail::formulas;
  const value made = evaluate(values);
  const auto as_scalar = scalar_of(made);
  if (as_scalar && !as_scalar->is_text()) return as_scalar->number();
  throw argument_error(
      fmt::format("the expression '{}' is the text '{}', not a number", text(), to_string(made)));
}

bool expression::holds(const std::vector<named_value>& values) const {
  const value made = evaluate(values);
  return detail::formulas::scalar_of(made)->truth();
}

std::vector<expression> expression::parts() const {
  std::vector<detail::formulas::node_index> found;
  formula_->collect_parts(formula_->root, found);
  if (found.size() == 1) return {*this};
  std::vector<expression> made;
  for (const auto part : found) {
    const auto& at = formula_->nodes[part];
    made.emplace_back(text().substr(at.begin, at.end - at.begin));
  }
  return made;
}

std::vector<restriction> expression::restrictions(const std::vector<parameter>& parameters) const {
  using namespace detail::formulas;
  std::vector<std::size_t> parameter_of;  // by the place of a name
  auto scalars = std::make_shared<std::vector<std::vector<scalar>>>();
  auto owned = std::make_shared<std::vector<parameter>>();  // whose texts the scalars are
  owned->reserve(names().size());
  for (const std::string& name : names()) {
    const auto found = std::ranges::find(parameters, name, &parameter::name);
    if (found == parameters.end()) {
      std::vector<std::string_view> all;
      for (const parameter& each : parameters) all.push_back(each.name);
      throw argument_error(
          fmt::format("the expression '{}' reads '{}', which is no parameter; the "
                      "parameters are {}",
                      text(), name, fmt::join(all, ", ")));
    }
    parameter_of.push_back(static_cast<std::size_t>(found - parameters.begin()));
    owned->push_back(*found);
    std::vector<scalar> candidates;
    for (const value& each : owned->back().candidates) {
      const auto made = scalar_of(each);
      if (!made) throw argument_error(fmt::format("'{}' has an empty candidate", name));
      candidates.push_back(*made);
    }
    scalars->push_back(std::move(candidates));
  }
  std::vector<node_index> parts;
  formula_->collect_parts(formula_->root, parts);
  std::vector<restriction> made;
  for (const node_index part : parts) {
    std::vector<std::size_t> reads;
    formula_->collect_places(part, reads);
    for (std::size_t& place : reads) place = parameter_of[place];
    const node& at = formula_->nodes[part];
    std::string description =
        parts.size() == 1 ? text() : text().substr(at.begin, at.end - at.begin);
    made.push_back({std::move(description),
                    [kept = formula_, part, parameter_of, scalars,
                     owned](std::span<const std::size_t> choice) {
                      const auto look_up = [&](std::size_t place) -> const scalar& {
                        return (*scalars)[place][choice[parameter_of[place]]];
                      };
                      return kept->evaluate(part, look_up).truth();
                    },
                    std::move(reads)});
  }
  return made;
}

}  // namespace tune
