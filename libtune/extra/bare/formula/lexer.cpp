// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/bare/formula/lexer.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/plain_text.hpp"

namespace tune::detail::formulas {
namespace {

bool starts_name(char c) { return is_word(c) && !is_digit(c); }

// Longer ones come first.
constexpr std::array<std::string_view, 33> signs{
    "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", ":=", "->", "+", "-", "*", "/", "%",
    "&",  "|",  "^",  "~",  "!",  "<",  ">",  "(",  ")",  "[",  "]",  "{",  "}", ",", ".", ":"};

std::optional<int> digit_of(char c) {
  if (is_digit(c)) return c - '0';
  if (is_letter(c)) return lower_case(c) - 'a' + 10;
  return std::nullopt;
}

class lexer {
 public:
  lexer(std::string_view text, workspace& in) : text_(text), in_(in) {}

  std::vector<token> run() {
    std::vector<token> tokens;
    for (skip_blanks(); at_ < text_.size(); skip_blanks()) tokens.push_back(next());
    tokens.push_back({token::kinds::end, {}, text_.size(), {}});
    return tokens;
  }

 private:
  [[noreturn]] void fail(std::string_view expected) const { refuse_syntax(text_, expected, at_); }

  char peek(std::size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }

  void skip_blanks() {
    constexpr std::string_view blanks = " \t\n\r\f";
    while (at_ < text_.size()) {
      if (peek() == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (peek() == '\\' && peek(1) == '\n') {
        at_ += 2;
      } else if (peek() == '\\' && peek(1) == '\r' && peek(2) == '\n') {
        at_ += 3;
      } else if (blanks.find(peek()) != std::string_view::npos && peek() != '\0') {
        ++at_;
      } else {
        return;
      }
    }
  }

  token next() {
    const std::size_t begin = at_;
    const char first = peek();
    if (is_digit(first) || (first == '.' && is_digit(peek(1)))) return read_number();
    if (first == '"' || first == '\'') return read_text(begin, false);
    if (starts_name(first)) {
      while (is_word(peek())) ++at_;
      if (peek() == '"' || peek() == '\'') return read_prefixed(begin);
      return {token::kinds::word, text_.substr(begin, at_ - begin), begin, {}};
    }
    for (const std::string_view sign : signs) {
      if (!text_.substr(at_).starts_with(sign)) continue;
      at_ += sign.size();
      return {token::kinds::sign, sign, begin, {}};
    }
    ++at_;  // unknown: the parser refuses it
    return {token::kinds::sign, text_.substr(begin, 1), begin, {}};
  }

  token read_prefixed(std::size_t begin) {
    const std::string_view prefix = text_.substr(begin, at_ - begin);
    if (prefix != "r" && prefix != "R" && prefix != "u") {
      at_ = begin;
      fail("a text without a prefix, or with 'r'");
    }
    return read_text(begin, prefix != "u");
  }

  token finish(std::size_t begin, token::kinds kind, const operand& constant) const {
    return {kind, text_.substr(begin, at_ - begin), begin, constant};
  }

  // ---- Numbers

  // Digits with single underscores between them, appended without these.
  void read_digits(int base, std::string& to) {
    for (bool any = false;; any = true, ++at_) {
      if (any && peek() == '_') ++at_;
      const auto digit = digit_of(peek());
      if (!digit || *digit >= base) {
        if (any && text_[at_ - 1] == '_') fail("a digit");
        return;
      }
      to += peek();
    }
  }

  token read_number() {
    const std::size_t begin = at_;
    const char mark = peek() == '0' ? lower_case(peek(1)) : '\0';
    const int base = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 10;
    const operand made = base == 10 ? read_decimal() : read_based(base);
    if (is_word(peek()) || peek() == '.') fail("an operator or the end");
    return finish(begin, token::kinds::number, made);
  }

  operand read_based(int base) {
    at_ += 2;
    if (peek() == '_') ++at_;
    std::string digits;
    read_digits(base, digits);
    if (digits.empty()) fail("a digit");
    return whole_or_real(digits, base);
  }

  // Whole numbers beyond 64 bits become real.
  static operand whole_or_real(const std::string& digits, int base) {
    std::int64_t whole = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), whole, base);
    if (read.ec == std::errc()) return operand::of(whole);
    double real = 0;
    for (const char c : digits) real = real * base + *digit_of(c);
    if (base == 10) std::from_chars(digits.data(), digits.data() + digits.size(), real);
    return operand::of(real);
  }

  /// Appends "e-3", if it is there.
  bool read_exponent(std::string& to) {
    const bool is_signed = peek(1) == '-' || peek(1) == '+';
    if (lower_case(peek()) != 'e' || !is_digit(peek(is_signed ? 2 : 1))) return false;
    to += 'e';
    if (peek(1) == '-') to += '-';
    at_ += is_signed ? 2 : 1;
    read_digits(10, to);
    return true;
  }

  operand read_decimal() {
    const std::size_t begin = at_;
    std::string digits;
    read_digits(10, digits);
    bool is_real = peek() == '.';
    if (is_real) {
      digits += text_[at_++];
      read_digits(10, digits);
    }
    is_real = read_exponent(digits) || is_real;
    if (!is_real) {
      const bool is_zero = digits.find_first_not_of('0') == std::string::npos;
      if (digits.size() > 1 && digits[0] == '0' && !is_zero) {
        at_ = begin;
        fail("a number without a zero in front");
      }
      return whole_or_real(digits, 10);
    }
    double real = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), real);
    return operand::of(read.ec == std::errc::result_out_of_range ? beyond(digits) : real);
  }

  // A number of this exponent is zero or infinite.
  static double beyond(const std::string& digits) {
    return digits.find("e-") != std::string::npos ? 0.0 : std::numeric_limits<double>::infinity();
  }

  // ---- Texts

  token read_text(std::size_t begin, bool is_raw) {
    const char quote = peek();
    const bool is_long = peek(1) == quote && peek(2) == quote;
    const std::string close(is_long ? 3 : 1, quote);
    at_ += close.size();
    std::string made;
    while (!text_.substr(std::min(at_, text_.size())).starts_with(close)) {
      if (at_ >= text_.size() || (!is_long && peek() == '\n')) fail("a quote");
      if (peek() != '\\') {
        made += text_[at_++];
      } else if (is_raw) {
        made += text_.substr(at_, 2);
        at_ = std::min(at_ + 2, text_.size());
      } else {
        read_escape(made);
      }
    }
    at_ += close.size();
    return finish(begin, token::kinds::text, operand::of(in_.keep(std::move(made))));
  }

  void read_escape(std::string& to) {
    static constexpr std::array<std::pair<char, char>, 10> plain{{{'\\', '\\'},
                                                                  {'\'', '\''},
                                                                  {'"', '"'},
                                                                  {'n', '\n'},
                                                                  {'t', '\t'},
                                                                  {'r', '\r'},
                                                                  {'a', '\a'},
                                                                  {'b', '\b'},
                                                                  {'f', '\f'},
                                                                  {'v', '\v'}}};
    const char mark = peek(1);
    const auto* const found = std::ranges::find(plain, mark, &std::pair<char, char>::first);
    if (found != plain.end()) {
      to += found->second;
    } else if (mark != '\n') {
      fail("a backslash with one of \\ ' \" n t r a b f v or a line end");
    }
    at_ += 2;
  }

  std::string_view text_;
  workspace& in_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<token> read_tokens(std::string_view text, workspace& in) {
  return lexer(text, in).run();
}

void refuse_syntax(std::string_view text, std::string_view expected, std::size_t at) {
  const bool over = at >= text.size();
  throw argument_error(fmt::format(
      "the expression '{}' is no formula: {} is expected at column {}, where {}", text, expected,
      at + 1, over ? "it ends" : fmt::format("'{}' is", text.substr(at, 12))));
}

}  // namespace tune::detail::formulas
