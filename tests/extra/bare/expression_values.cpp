// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Evaluates the expressions of standard input for as_python_test.py. Each record ends with a zero
// byte: "V" and an expression over the names below, whose value it prints, or "S" and one over the
// parameters below, for which it prints the size of the space. A line of the output is a type and a
// value, or "error" and the message.
#include <array>
#include <charconv>
#include <cstdint>
#include <iostream>
#include <iterator>
#include <string>
#include <variant>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/extra/bare/expression.hpp"
#include "libtune/search/space/search_space.hpp"

namespace {

std::int64_t whole(std::int64_t v) { return v; }

// The names of as_python_test.py.
const std::vector<tune::named_value>& names() {
  static const std::vector<tune::named_value> all{{"x", whole(32)},
                                                  {"y", whole(5)},
                                                  {"minus", whole(-7)},
                                                  {"zero", whole(0)},
                                                  {"big", whole((std::int64_t{1} << 53) + 1)},
                                                  {"half", 0.5},
                                                  {"tenth", 0.1},
                                                  {"on", true},
                                                  {"off", false},
                                                  {"kind", std::string("NCHW")},
                                                  {"empty", std::string()},
                                                  {"none", std::monostate()}};
  return all;
}

// The parameters of as_python_test.py.
const std::vector<tune::parameter>& parameters() {
  static const std::vector<tune::parameter> all{
      {"a", {whole(0), whole(1), whole(2), whole(-3), whole(32)}},
      {"b", {whole(1), whole(4), whole(0)}},
      {"r", {0.1, 0.5, -2.0, 3.0}},
      {"t", {std::string("NC"), std::string("HW")}},
      {"f", {true, false}}};
  return all;
}

std::string exact(double v) {
  std::array<char, 64> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), v).ptr};
}

std::string text_of(const tune::value& made) {
  if (const auto* b = std::get_if<bool>(&made)) return *b ? "bool 1" : "bool 0";
  if (const auto* i = std::get_if<std::int64_t>(&made)) return "int " + std::to_string(*i);
  if (const auto* d = std::get_if<double>(&made)) return "float " + exact(*d);
  if (const auto* s = std::get_if<std::string>(&made)) return "str " + *s;
  return "None";
}

std::string answer(const std::string& record) {
  try {
    const tune::expression read(record.substr(1));
    if (record[0] == 'V') return text_of(read.evaluate(names()));
    const tune::search_space space(parameters(), read.restrictions(parameters()));
    return "int " + std::to_string(space.size());
  } catch (const tune::error& refused) {
    return std::string("error ") + refused.what();
  }
}

}  // namespace

int main() {
  const std::string all{std::istreambuf_iterator<char>(std::cin), {}};
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t end = all.find('\0', at);
    std::string line = answer(all.substr(at, end - at));
    for (char& each : line) {
      if (each == '\n') each = ' ';
    }
    std::cout << line << '\n';
    at = end + 1;
  }
}
