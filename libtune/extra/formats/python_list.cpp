// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/formats/python_list.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <iterator>
#include <optional>
#include <string_view>
#include <variant>

#include "libtune/base/error.hpp"
#include "libtune/extra/bare/expression.hpp"

namespace tune::detail {
namespace {

std::string trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\n\v\f\r";
  const std::size_t first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return std::string(text.substr(first, text.find_last_not_of(blank) - first + 1));
}

/// The positions of a word outside of brackets and quotes.
std::vector<std::size_t> places_of(std::string_view word, std::string_view text) {
  std::vector<std::size_t> places;
  int depth = 0;
  char quote = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == quote) quote = 0;
      continue;
    }
    if (c == '"' || c == '\'') quote = c;
    if (depth == 0 && text.substr(i).starts_with(word)) places.push_back(i);
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
  }
  return places;
}

std::vector<std::string> split_at(std::string_view word, std::string_view text) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (const std::size_t place : places_of(word, text)) {
    parts.push_back(trimmed(text.substr(begin, place - begin)));
    begin = place + word.size();
  }
  parts.push_back(trimmed(text.substr(begin)));
  return parts;
}

/// The text inside brackets that enclose a whole text, optionally after a word: "range(1, 2)".
std::optional<std::string> inside(std::string_view text, std::string_view before, char close) {
  if (!text.starts_with(before) || !text.ends_with(close)) return std::nullopt;
  text = text.substr(before.size(), text.size() - before.size() - 1);
  int depth = 0;
  for (const char c : text) {
    if (c == '(' || c == '[') ++depth;
    if ((c == ')' || c == ']') && --depth < 0) return std::nullopt;  // closed before the end
  }
  return trimmed(text);
}

class list_reader {
 public:
  explicit list_reader(const std::string& text) : text_(text) {}

  /// @param depth  the number of lists around this one
  std::vector<value> read(const std::string& part, int depth = 0) const {
    constexpr int most_depth = 32;
    if (depth > most_depth) {
      throw argument_error(fmt::format("a list of values nests deeper than {} levels", most_depth));
    }
    const auto terms = split_at("+", part);
    if (terms.size() == 1) return read_term(part, depth);
    std::vector<value> all;
    for (const std::string& term : terms) {
      std::ranges::move(read_term(term, depth), std::back_inserter(all));
    }
    return all;
  }

 private:
  [[noreturn]] void refuse(const std::string& part) const {
    throw argument_error(fmt::format(
        "'{}' is no list of values: '{}' is none of [...], (...), range(...), list(...) and "
        "[expression for name in list if condition], joined by +",
        text_, part));
  }

  /// Elements of nested lists count, too, even if a condition removes them.
  void count(std::size_t more) const {
    if (more > most_listed_values - counted_) {
      throw argument_error(fmt::format("'{}' has more than {} values", text_, most_listed_values));
    }
    counted_ += more;
  }

  std::vector<value> read_term(const std::string& term, int depth) const {
    if (const auto list = inside(term, "list(", ')')) return read(*list, depth + 1);
    if (const auto bounds = inside(term, "range(", ')')) return read_range(*bounds);
    auto items = inside(term, "[", ']');
    if (!items) items = inside(term, "(", ')');
    if (!items) refuse(term);
    if (!places_of(" for ", *items).empty()) return read_comprehension(*items, depth);
    // Brackets around one list, as in "([1, 2] + [4])".
    if (term.front() == '(' && places_of(",", *items).empty()) return read(*items, depth + 1);
    std::vector<value> values;
    for (const std::string& item : split_at(",", *items)) {
      if (!item.empty()) values.push_back(expression(item).evaluate({}));
    }
    count(values.size());
    return values;
  }

  std::vector<value> read_range(const std::string& bounds) const {
    std::vector<std::int64_t> numbers;
    for (const std::string& bound : split_at(",", bounds)) {
      const value number = expression(bound).evaluate({});
      const auto* whole = std::get_if<std::int64_t>(&number);
      if (whole == nullptr) refuse("range(" + bounds + ")");
      numbers.push_back(*whole);
    }
    if (numbers.size() > 3) refuse("range(" + bounds + ")");
    const std::int64_t from = numbers.size() > 1 ? numbers[0] : 0;
    const std::int64_t to = numbers.size() > 1 ? numbers[1] : numbers[0];
    const std::int64_t step = numbers.size() > 2 ? numbers[2] : 1;
    if (step == 0) refuse("range(" + bounds + ")");
    const double steps =
        (static_cast<double>(to) - static_cast<double>(from)) / static_cast<double>(step);
    count(static_cast<std::size_t>(std::clamp(std::ceil(steps), 0.0, most_listed_values + 1.0)));
    std::vector<value> values;
    for (std::int64_t i = from; step > 0 ? i < to : i > to;) {
      values.emplace_back(i);
      if (__builtin_add_overflow(i, step, &i)) break;
    }
    return values;
  }

  std::vector<value> read_comprehension(const std::string& text, int depth) const {
    const auto parts = split_at(" for ", text);
    if (parts.size() != 2) refuse(text);
    const auto halves = split_at(" in ", parts[1]);
    if (halves.size() < 2) refuse(text);
    const std::string& name = halves[0];
    // A condition may contain another "in".
    const std::string rest = parts[1].substr(places_of(" in ", parts[1]).front() + 4);
    const auto source = split_at(" if ", rest);
    if (source.size() > 2) refuse(text);
    const expression item(parts[0]);
    const expression condition(source.size() > 1 ? source[1] : "True");
    const std::vector<value> all = read(source[0], depth + 1);
    constexpr std::size_t usual_characters = 64;  // a longer text takes time and memory for each
    count(all.size() * (text.size() / usual_characters));
    std::vector<value> values;
    for (const value& each : all) {
      const std::vector<named_value> named{{name, each}};
      if (condition.holds(named)) values.push_back(item.evaluate(named));
    }
    return values;
  }

  const std::string& text_;
  mutable std::size_t counted_ = 0;
};

}  // namespace

std::vector<value> read_python_list(const std::string& text) {
  return list_reader(text).read(trimmed(text));
}

}  // namespace tune::detail
