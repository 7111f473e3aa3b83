// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/testing/strategy_conformance.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <doctest/doctest.h>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/search/space/search_space.hpp"

namespace tune::testing {
namespace {

/// A space for tests of strategies.
struct strategy_space {
  std::string name;
  search_space space;
};

/// Scores, or failures, of the configurations of a space.
struct strategy_answers {
  std::string name;
  std::function<std::optional<double>(const search_space&, std::size_t index)> answer;
};

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

/// A function with a single minimum.
double bowl(const search_space& space, std::size_t index) {
  double score = 1;
  for (const std::size_t candidate : space.choice(index)) {
    score += std::abs(static_cast<double>(candidate) - 1.5);
  }
  return score;
}

/// Spaces of all kinds, all small enough to be visited completely: with one configuration, with one
/// parameter, restricted, with values other than integers, without parameters, without
/// configurations, and one whose restrictions leave a single combination of a million.
std::vector<strategy_space> small_strategy_spaces() {
  return {{"a line", line(100)},
          {"one configuration", line(1)},
          {"no parameters", search_space({})},
          {"a restricted space", restricted()},
          {"values of all kinds", of_all_kinds()},
          {"one of a million", needle()},
          {"nothing allowed", nothing_allowed()}};
}

/// A space of 10^7 configurations.
search_space huge_strategy_space() {
  std::vector<parameter> digits = six_digits();
  digits.push_back(counting("g", 10));
  return search_space(std::move(digits));
}

/// Answers of all kinds: with a best one, all equal, with some failures, only failures, and scores
/// that are negative, huge or NaN.
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

using indices = std::vector<std::size_t>;

/// The time of the answers.
enum class arrival { at_once, late, late_and_reversed, never };

constexpr std::size_t far_ahead = 32;

void tell_waiting(strategy& searching, std::deque<std::size_t>& waiting, arrival when,
                  const strategy_answers& answers) {
  if (when == arrival::never) return;
  if (when == arrival::late_and_reversed) {
    if (waiting.size() < far_ahead) return;
    std::ranges::reverse(waiting);
  }
  const std::size_t kept = when == arrival::late ? far_ahead : 0;
  while (waiting.size() > kept) {
    const std::size_t index = waiting.front();
    waiting.pop_front();
    searching.tell(index, answers.answer(searching.space(), index));
  }
}

/// All proposals of a search, from its beginning to its end.
indices proposals(strategy& searching, arrival when, const strategy_answers& answers) {
  indices all;
  std::deque<std::size_t> waiting;
  while (const auto index = searching.ask()) {
    all.push_back(*index);
    waiting.push_back(*index);
    REQUIRE(all.size() <= searching.space().size());
    tell_waiting(searching, waiting, when, answers);
  }
  return all;
}

bool all_different(const indices& proposed) {
  return std::set<std::size_t>(proposed.begin(), proposed.end()).size() == proposed.size();
}

void goes_through_all(const strategy_maker& make, arrival when) {
  for (const strategy_space& tried : small_strategy_spaces()) {
    for (const strategy_answers& answers : all_strategy_answers()) {
      CAPTURE(tried.name);
      CAPTURE(answers.name);
      const auto searching = make(tried.space, {.seed = 7, .early_end = false});
      CHECK(searching->remaining() == tried.space.size());
      const indices proposed = proposals(*searching, when, answers);
      CHECK(proposed.size() == tried.space.size());
      CHECK(all_different(proposed));
      CHECK(std::ranges::all_of(proposed, [&](std::size_t i) { return i < tried.space.size(); }));
      for (const std::size_t index : proposed) searching->tell(index, 1.0);
      CHECK_MESSAGE(!searching->ask(), "a strategy that has ended proposes nothing any more");
      CHECK(searching->remaining() == 0);
    }
  }
}

void answered_at_once(const strategy_maker& make) { goes_through_all(make, arrival::at_once); }
void answered_late(const strategy_maker& make) { goes_through_all(make, arrival::late); }
void answered_reversed(const strategy_maker& make) {
  goes_through_all(make, arrival::late_and_reversed);
}
void never_answered(const strategy_maker& make) { goes_through_all(make, arrival::never); }

void repeats_itself(const strategy_maker& make) {
  for (const strategy_space& tried : small_strategy_spaces()) {
    for (const arrival when : {arrival::at_once, arrival::late_and_reversed}) {
      for (const std::uint64_t seed :
           {std::uint64_t{0}, std::numeric_limits<std::uint64_t>::max()}) {
        CAPTURE(tried.name);
        const strategy_answers answers = all_strategy_answers().front();
        const auto once = make(tried.space, {.seed = seed});
        const auto again = make(tried.space, {.seed = seed});
        CHECK(proposals(*once, when, answers) == proposals(*again, when, answers));
      }
    }
  }
}

strategy_options with_no_early_end(strategy_options options) {
  options.early_end = false;
  return options;
}

void keeps_limits(const strategy_maker& make) {
  const auto count = [&](const search_space& space, const strategy_options& options) {
    const auto searching = make(space, with_no_early_end(options));
    const std::size_t announced = searching->remaining();
    const indices all = proposals(*searching, arrival::at_once, all_strategy_answers().front());
    CHECK(all.size() == announced);
    CHECK(all_different(all));
    return all.size();
  };
  const search_space line = small_strategy_spaces().front().space;
  CHECK(count(line, {.max_count = 0}) == 0);
  CHECK(count(line, {.max_count = 1}) == 1);
  CHECK(count(line, {.max_count = 31}) == 31);
  CHECK(count(line, {.max_count = 1000}) == 100);
  CHECK(count(line, {.max_fraction = 0.305}) == 31);
  CHECK(count(line, {.max_count = 2, .max_fraction = 0.1}) == 2);
  CHECK_THROWS_AS(make(line, {.max_fraction = 0.0}), argument_error);
}

void searches_huge_spaces(const strategy_maker& make) {
  const search_space huge = huge_strategy_space();
  for (const strategy_answers& answers : all_strategy_answers()) {
    CAPTURE(answers.name);
    const auto searching = make(huge, {.seed = 3, .max_count = 60, .early_end = false});
    const indices proposed = proposals(*searching, arrival::late, answers);
    CHECK(proposed.size() == 60);
    CHECK(all_different(proposed));
    CHECK(std::ranges::all_of(proposed, [&](std::size_t i) { return i < huge.size(); }));
  }
}

void takes_other_answers(const strategy_maker& make) {
  const search_space line = small_strategy_spaces().front().space;
  const auto searching = make(line, {.early_end = false});
  for (std::size_t index = 90; index < 100; ++index) {
    searching->tell(index, index % 2 == 0 ? std::optional(0.5) : std::nullopt);
  }
  CHECK_THROWS_AS(searching->tell(100, 0.5), argument_error);
  const indices proposed = proposals(*searching, arrival::at_once, all_strategy_answers().front());
  CHECK(all_different(proposed));
  // The strategy may also propose configurations with known answers.
  for (std::size_t index = 0; index < 90; ++index) {
    CHECK(std::ranges::find(proposed, index) != proposed.end());
  }
}

void starts_warm(const strategy_maker& make) {
  const search_space line = small_strategy_spaces().front().space;
  for (const arrival when : {arrival::at_once, arrival::late, arrival::never}) {
    const auto searching = make(line, {.warm_start = {40, 7, 40, 99}, .early_end = false});
    const indices proposed = proposals(*searching, when, all_strategy_answers().front());
    REQUIRE(proposed.size() == 100);
    CHECK(all_different(proposed));
    CHECK(indices(proposed.begin(), proposed.begin() + 3) == indices{40, 7, 99});
  }
  CHECK(make(line, {.max_count = 2, .warm_start = {40, 7, 99}})->remaining() == 2);
  CHECK_THROWS_AS(make(line, {.warm_start = {100}}), argument_error);
}

void ends_early(const strategy_maker& make) {
  for (const strategy_space& tried : small_strategy_spaces()) {
    for (const strategy_answers& answers : all_strategy_answers()) {
      CAPTURE(tried.name);
      CAPTURE(answers.name);
      const auto searching = make(tried.space, {.seed = 5});
      const indices proposed = proposals(*searching, arrival::late, answers);
      CHECK(all_different(proposed));
      CHECK_MESSAGE((proposed.size() == tried.space.size() || searching->ended_early()),
                    "a strategy that has not gone through the space says that it has ended early");
      CHECK_MESSAGE(!searching->ask(), "a strategy that has ended proposes nothing any more");
      const auto whole = make(tried.space, {.seed = 5, .early_end = false});
      proposals(*whole, arrival::late, answers);
      CHECK_FALSE(whole->ended_early());
    }
  }
}

struct strategy_requirement {
  const char* sentence;
  void (*check)(const strategy_maker&);
};

constexpr strategy_requirement requirements[] = {
    {"it proposes each configuration once, answered at once", answered_at_once},
    {"it proposes each configuration once, answered late", answered_late},
    {"it proposes each configuration once, answered late and in reverse", answered_reversed},
    {"it proposes each configuration once, never answered", never_answered},
    {"equal seeds and answers make equal searches", repeats_itself},
    {"limits are kept", keeps_limits},
    {"spaces of ten million configurations are searched", searches_huge_spaces},
    {"answers about what it has not proposed are taken", takes_other_answers},
    {"a warm start comes first, and once", starts_warm},
    {"it ends early only where it may, and says so", ends_early},
};

}  // namespace

void check_strategy_conformance(const strategy_maker& make) {
  for (const strategy_requirement& item : requirements) {
    DOCTEST_SUBCASE(item.sentence) { item.check(make); }
  }
}

void check_strategy_conformance(std::string_view name) {
  // A subcase for each name, so that one test case can check several.
  const std::string text(name);
  DOCTEST_SUBCASE(text.c_str()) {
    check_strategy_conformance([&](const search_space& space, const strategy_options& options) {
      return make_strategy(text, space, options);
    });
  }
}

}  // namespace tune::testing
