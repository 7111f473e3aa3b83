// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/ranged/portfolio_core.hpp"

#include <algorithm>
#include <cstdint>
#include <doctest/doctest.h>
#include <limits>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/base/forked_process.hpp"
#include "libtune/extra/ranged/stored_portfolio.hpp"
#include "tests/store/child_process.hpp"
#include "tests/tune/scale.hpp"

namespace portfolio_core_test {

using sample::scale_tuning;

using sizes = std::span<const std::uint64_t>;

TEST_CASE("a choice that does not fit gives way by the times in its leaf") {
  tune::detail::stored_portfolio stored{
      .ranges = {{1, 64}},
      .configurations = {tune::to_values(scale_tuning{1, 1}), tune::to_values(scale_tuning{2, 2}),
                         tune::to_values(scale_tuning{4, 4}), tune::to_values(scale_tuning{})},
      .tree = tune::size_tree({{.threshold = 8, .coordinate = 0, .below = 1, .above = 2},
                               {.threshold = 0, .coordinate = -1, .below = 0},
                               {.threshold = 0, .coordinate = -1, .below = 1}}),
      .orders = {{}, {0, 2, 1}, {1, 0}},
      .proven = {{{60}, {2, 0}}, {{100}, {2, 1}}, {{200}, {1}}}};
  const std::vector<tune::field_description> fields = tune::describe_fields<scale_tuning>();
  const auto again = tune::detail::stored_portfolio::parse(stored.text(), fields);
  CHECK(again.text() == stored.text());
  CHECK(again.proven == stored.proven);
  const auto choose = [&](std::uint64_t size, std::vector<std::size_t> unfit) {
    const tune::detail::portfolio_core core(again, {}, {});  // which keeps its choices
    return core.choose(
        std::span(&size, 1),
        [unfit](std::size_t place) { return std::ranges::find(unfit, place) == unfit.end(); }, {});
  };
  CHECK(choose(3, {}) == 0);
  CHECK(choose(3, {0}) == 2);
  CHECK(choose(3, {0, 2}) == 1);
  CHECK(choose(9, {1}) == 0);
  // At sizes in the range that were measured, as they had been asked for, too.
  CHECK(choose(60, {}) == 2);
  CHECK(choose(60, {2}) == 0);
  CHECK(choose(61, {}) == 1);
  CHECK(choose(9, {1, 0}) == 3);  // 2 failed in this leaf
  CHECK(choose(100, {}) == 2);
  CHECK(choose(100, {2}) == 1);
  CHECK(choose(100, {1, 2}) == 3);
  CHECK(choose(101, {}) == 1);  // the nearest leaf
  const auto unproven = tune::detail::unproven_sizes(
      {{"portfolio", stored.text()}}, {{{3}, 1}, {{100}, 1}, {{101}, 1}, {{1, 2}, 1}});
  CHECK(unproven.size() == 2);
  CHECK(unproven.front().sizes == tune::size_list{101});
}

TEST_CASE("a portfolio by costs is its text, and a tree is its way where costs are not known") {
  tune::cost_factors one{2};
  one.back() = 3;
  tune::cost_factors none{};
  none.back() = std::numeric_limits<double>::infinity();
  const tune::detail::stored_portfolio stored{
      .ranges = {{1, 64}},
      .configurations = {tune::to_values(scale_tuning{1, 1}), tune::to_values(scale_tuning{2, 2}),
                         tune::to_values(scale_tuning{})},
      .factors = {{{1}}, one, none}};
  const std::vector<tune::field_description> fields = tune::describe_fields<scale_tuning>();
  const auto again = tune::detail::stored_portfolio::parse(stored.text(), fields);
  CHECK(again.text() == stored.text());
  CHECK(again.factors == stored.factors);
  const std::vector<tune::cost_function> costs{
      [](sizes at) { return tune::cost_terms{static_cast<double>(at[0])}; },
      [](sizes) { return tune::cost_terms{1}; }, [](sizes) { return tune::cost_terms{}; }};
  const tune::detail::portfolio_core core(again, {}, {});
  const std::uint64_t few = 4;
  const std::uint64_t many = 6;
  CHECK(core.choose(std::span(&few, 1), {}, costs) == 0);
  CHECK(core.choose(std::span(&many, 1), {}, costs) == 1);
  const tune::detail::portfolio_core without(again, {}, {});
  CHECK(without.choose(std::span(&many, 1), {}, {}) == 0);
  const auto described = tune::detail::describe_portfolio({{"portfolio", stored.text()}});
  REQUIRE(described);
  CHECK(described->find("3 tunings chosen by their costs") != std::string::npos);
  std::string text = stored.text();
  // With more factors than there are terms it is refused; with fewer it is of an earlier version.
  const std::string first = text.substr(text.find("\"factors\":[[") + 11);
  const std::string factors = first.substr(0, first.find(']') + 1);
  text.replace(text.find(factors), factors.size(), "[7," + factors.substr(1));
  CHECK_THROWS_AS(static_cast<void>(tune::detail::stored_portfolio::parse(text, fields)),
                  tune::argument_error);
  text = stored.text();
  text.replace(text.find(factors), factors.size(), "[2,5]");
  tune::cost_factors earlier{2};
  earlier.back() = 5;
  CHECK(tune::detail::stored_portfolio::parse(text, fields).factors.front() == earlier);
}

/// Checks that the text of a portfolio is refused after each of these replacements.
void check_refused(const std::string& text,
                   const std::vector<std::pair<std::string, std::string>>& replacements) {
  const std::vector<tune::field_description> fields = tune::describe_fields<scale_tuning>();
  for (const auto& [from, to] : replacements) {
    std::string broken = text;
    const std::size_t at = broken.find(from);
    REQUIRE(at != std::string::npos);
    broken.replace(at, from.size(), to);
    CHECK_THROWS_AS(static_cast<void>(tune::detail::stored_portfolio::parse(broken, fields)),
                    tune::argument_error);
  }
}

TEST_CASE("corrections of costs are stored, and choose") {
  const std::vector<tune::size_range> ranges{{1, 4}};
  const std::vector<tune::cost_corrections::way> slow{{.flags = 0, .thousandths = {0, 0, 900}}};
  const tune::detail::stored_portfolio stored{
      .ranges = ranges,
      .configurations = {tune::to_values(scale_tuning{1, 1}), tune::to_values(scale_tuning{2, 2})},
      .factors = {{{1}}, {{1.5}}},
      .corrections = {ranges, 2, {slow}}};
  const std::vector<tune::field_description> fields = tune::describe_fields<scale_tuning>();
  const std::string text = stored.text();
  const auto again = tune::detail::stored_portfolio::parse(text, fields);
  CHECK(again.text() == text);
  CHECK(again.corrections == stored.corrections);
  const tune::cost_function one = [](sizes) { return tune::cost_terms{1}; };
  const std::vector<tune::cost_function> costs{one, one};
  const tune::detail::portfolio_core core(again, {}, {});
  for (const auto& [size, chosen] :
       {std::pair<std::uint64_t, std::size_t>{2, 0}, std::pair<std::uint64_t, std::size_t>{4, 1}}) {
    CHECK(core.choose(std::span(&size, 1), {}, costs) == chosen);
  }
  check_refused(text, {{"[0,0,900]", "[0,0]"},
                       {"[0,0,900]", "[0,0,0.5]"},
                       {"[0,0,900]", "[0,0,-1000]"},
                       {"[0,0,900]", "[0,0,40000]"},
                       {"\"flags\":0", "\"flags\":-1"},
                       {"\"flag_terms\":2", "\"flag_terms\":99999999"},
                       {"\"ways\":[[", "\"ways\":[[],[],[]],\"others\":[["},
                       {"\"ways\":[[", "\"ways\":[7,["}});
}

TEST_CASE("a stored portfolio that is damaged counts as not there") {
  const std::vector<tune::field_description> fields = tune::describe_fields<scale_tuning>();
  tune::detail::stored_portfolio stored{
      .ranges = {{1, 64}},
      .configurations = {tune::to_values(scale_tuning{}), tune::to_values(scale_tuning{2, 2})},
      .tree = tune::size_tree({{.threshold = 8, .coordinate = 0, .below = 1, .above = 2},
                               {.threshold = 0, .coordinate = -1, .below = 0},
                               {.threshold = 0, .coordinate = -1, .below = 1}}),
      .orders = {{}, {0, 1}, {1, 0}},
      .proven = {{{99}, {0}}},
      .expected_loss = 0.01,
      .worst_loss = std::numeric_limits<double>::infinity(),
      .sizes = 12,
      .compared = 5};
  const std::string text = stored.text();
  const auto again = tune::detail::stored_portfolio::parse(text, fields);
  CHECK(again.text() == text);
  CHECK(tune::detail::describe_portfolio({{"portfolio", text}}) ==
        "portfolio of 2 tunings in 2 leaves, compared at 12 sizes: its loss against tuning each "
        "size is not known, because too few were compared");
  CHECK_FALSE(tune::detail::describe_portfolio({{"portfolio", std::string("{}")}}));
  CHECK_FALSE(tune::detail::describe_portfolio({{"wgs", std::int64_t{1}}}));
  const auto refused = [&](std::string broken) {
    CHECK_THROWS_AS(static_cast<void>(tune::detail::stored_portfolio::parse(broken, fields)),
                    tune::argument_error);
  };
  refused("");
  refused("{}");
  refused(text.substr(0, text.size() / 2));
  check_refused(text, {{"\"order\":[1,0]", "\"order\":[2,0]"},
                       {"\"order\":[0]", "\"order\":[7]"},
                       {"\"sizes\":[99]", "\"sizes\":[99,1]"},
                       {"\"coordinate\":0", "\"coordinate\":40"},
                       {"\"coordinate\":0", "\"coordinate\":\"nan\""},
                       {"\"coordinate\":0", "\"coordinate\":1e300"},
                       {"\"coordinate\":0", "\"coordinate\":-2147483649"},
                       {"\"below\":1,\"above\":2", "\"below\":9,\"above\":2"},
                       {"\"wgs\":2", "\"wgs\":\"two\""},
                       {"\"portfolio\":1", "\"portfolio\":2"}});
}

TEST_CASE("another number of sizes gets the last tuning, and asks no function of the author") {
  int calls = 0;
  const tune::detail::stored_portfolio stored{
      .ranges = {{1, 64}, {1, 64}},
      .configurations = {tune::to_values(scale_tuning{2, 2}), tune::to_values(scale_tuning{})}};
  const auto features = [&](sizes) {
    ++calls;
    return tune::size_feature_list{};
  };
  const auto fits = [&](std::size_t) {
    ++calls;
    return true;
  };
  const tune::detail::portfolio_core core(stored, features, {});
  for (const tune::size_list& at : {tune::size_list{}, {3}, {3, 3, 3}, {3, 3, 3, 3, 3}}) {
    CHECK(core.choose(at, fits, {}) == 1);
  }
  CHECK(calls == 0);
  CHECK(core.choose(tune::size_list{3, 3}, fits, {}) == 0);
  CHECK(calls > 0);
}

TEST_CASE("a forked process does not note the sizes of its parent") {
  tune::detail::watch_forks();
  int noted = 0;
  const auto notes = [&](const tune::detail::portfolio_core&,
                         const std::vector<tune::asked_sizes>& asked) {
    noted += static_cast<int>(asked.front().count);
  };
  const tune::detail::stored_portfolio stored{.ranges = {{1, 64}},
                                              .configurations = {tune::to_values(scale_tuning{})}};
  std::optional<tune::detail::portfolio_core> core;
  core.emplace(stored, tune::size_features{}, notes);
  for (int i = 0; i < 10; ++i) core->choose(tune::size_list{7}, {}, {});
  CHECK(tune::testing::in_forked_child([&] {
          core->note_sizes();
          core.reset();
          return noted;
        }) == 0);
  core.reset();
  CHECK(noted == 10);
}

TEST_CASE("a choice is made once for each of some hundred sizes, in any order") {
  const tune::detail::stored_portfolio stored{
      .ranges = {{1, 8192}, {1, 8192}},
      .configurations = {tune::to_values(scale_tuning{1, 1}), tune::to_values(scale_tuning{})}};
  const tune::detail::portfolio_core core(stored, {}, {});
  std::size_t made = 0;
  const std::function<bool(std::size_t)> counted = [&](std::size_t) {
    ++made;
    return true;
  };
  constexpr std::size_t count = 300;
  constexpr std::size_t rounds = 20;
  std::mt19937 random(3);  // NOLINT: the same sizes each time
  std::vector<tune::size_list> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back({1 + random() % 8192, 1 + random() % 8192});
  for (std::size_t round = 0; round < rounds; ++round) {
    std::ranges::shuffle(all, random);
    for (const tune::size_list& each : all) CHECK(core.choose(each, counted, {}) == 0);
  }
  // Some have to move to their other place first.
  CHECK(made >= count);
  CHECK(made < count + count / 5);
}

TEST_CASE("sizes are counted by several threads") {
  tune::detail::size_tally tally;
  const auto count = [&] {
    for (std::uint64_t i = 0; i < 10000; ++i) {
      const std::uint64_t size = i % 10;
      tally.count(std::span(&size, 1));
    }
  };
  std::thread other(count);
  count();
  other.join();
  const auto all = tally.take();
  CHECK(all.size() == 10);
  std::uint64_t total = 0;
  for (const auto& each : all) total += each.count;
  CHECK(total > 19900);  // one that meets another's first is not counted
  CHECK(total <= 20000);
  CHECK(tally.take().empty());
  bool has_room = true;
  for (std::uint64_t size = 100; size < 1000; ++size) {
    has_room = tally.count(std::span(&size, 1)) && has_room;
  }
  CHECK_FALSE(has_room);
  CHECK(tally.take().size() > tune::detail::size_tally::most / 2);
}

}  // namespace portfolio_core_test
