// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/testing/strategy_spaces.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

namespace tune::testing {
namespace {

parameter counting(std::string name, std::int64_t count) {
  parameter made{std::move(name), {}};
  for (std::int64_t i = 0; i < count; ++i) made.candidates.emplace_back(i);
  return made;
}

search_space line(std::int64_t size) { return search_space({counting("x", size)}); }

std::vector<parameter> six_digits() {
  std::vector<parameter> digits;
  for (const char* name : {"a", "b", "c", "d", "e", "f"}) digits.push_back(counting(name, 10));
  return digits;
}

search_space restricted() {
  return search_space({counting("a", 5), counting("b", 4), counting("c", 3)},
                      {{"the sum is even", [](std::span<const std::size_t> choice) {
                          return (choice[0] + choice[1] + choice[2]) % 2 == 0;
                        }}});
}

search_space of_all_kinds() {
  return search_space({{"flag", {true, false}},
                       {"method", {std::string("tree"), std::string("shuffle"), std::string()}},
                       {"factor", {0.5, 1e300, -2.25, 1e-300}},
                       {"absent", {value(), std::int64_t{-7}}},
                       {"fixed", {std::uint64_t{1} << 63}}});
}

search_space needle() {
  restriction hidden{"it is the one", [](std::span<const std::size_t> choice) {
                       std::size_t number = 0;
                       for (const std::size_t digit : choice) number = number * 10 + digit;
                       return number == 271828;
                     }};
  return search_space(six_digits(), {hidden});
}

search_space nothing_allowed() {
  return search_space({counting("x", 3)},
                      {{"nothing", [](std::span<const std::size_t>) { return false; }}});
}

/// With one lowest point.
double bowl(const search_space& space, std::size_t index) {
  double score = 1;
  for (const std::size_t candidate : space.choice(index)) {
    score += std::abs(static_cast<double>(candidate) - 1.5);
  }
  return score;
}

}  // namespace

std::vector<strategy_space> small_strategy_spaces() {
  return {{"a line", line(100)},
          {"one configuration", line(1)},
          {"no parameters", search_space({})},
          {"a restricted space", restricted()},
          {"values of all kinds", of_all_kinds()},
          {"one of a million", needle()},
          {"nothing allowed", nothing_allowed()}};
}

search_space huge_strategy_space() {
  std::vector<parameter> digits = six_digits();
  digits.push_back(counting("g", 10));
  return search_space(std::move(digits));
}

std::vector<strategy_answers> all_strategy_answers() {
  using answer = std::optional<double>;
  constexpr double huge = std::numeric_limits<double>::max();
  return {
      {"one best", [](const search_space& s, std::size_t i) -> answer { return bowl(s, i); }},
      {"all equal", [](const search_space&, std::size_t) -> answer { return 1.0; }},
      {"all zero", [](const search_space&, std::size_t) -> answer { return 0.0; }},
      {"failures among them",
       [](const search_space& s, std::size_t i) -> answer {
         return i % 3 == 0 ? answer(bowl(s, i)) : std::nullopt;
       }},
      {"nothing but failures",
       [](const search_space&, std::size_t) -> answer { return std::nullopt; }},
      {"no numbers",
       [](const search_space&, std::size_t) -> answer {
         return std::numeric_limits<double>::quiet_NaN();
       }},
      {"negative", [](const search_space& s, std::size_t i) -> answer { return bowl(s, i) - 4.0; }},
      {"huge and tiny",
       [](const search_space&, std::size_t i) -> answer {
         return i % 2 == 0 ? huge : (i % 4 == 1 ? -huge : 1e-300);
       }},
  };
}

}  // namespace tune::testing
