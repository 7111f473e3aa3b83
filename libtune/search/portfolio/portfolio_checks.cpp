// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/portfolio/portfolio_checks.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

namespace tune {
namespace {

using configuration = portfolio_source::configuration;

constexpr double nowhere = std::numeric_limits<double>::infinity();  // a time
constexpr std::size_t most_sizes = 200;  // among which those that are run are looked for

class checker {
 public:
  checker(built_portfolio& made, const portfolio_plan& plan, const configuration& fallback,
          portfolio_source& from)
      : made_(made), plan_(plan), fallback_(fallback), from_(from) {}

  void check_leaves() {
    box whole;
    for (const size_range& each : plan_.ranges) {
      whole.low.push_back(each.low());
      whole.high.push_back(each.high());
    }
    check_below(0, whole);
  }

  void check_costs() {
    std::vector<cost_function> costs;
    for (const configuration& each : made_.configurations) costs.push_back(plan_.costs(each));
    const std::vector<size_list> sizes = all_sizes();
    std::vector<bool> is_checked(costs.size());
    while (!check_all(sizes_by_choice(sizes, costs), is_checked)) {
      // The sizes of one that does not work fall to others, whose own sizes change.
      is_checked.assign(is_checked.size(), false);
      made_.unchecked = 0;
    }
  }

 private:
  /// Sizes from the lowest to the highest of each range.
  struct box {
    size_list low;
    size_list high;
  };

  void check_below(std::size_t at, const box& within) {
    const size_tree::node node = made_.tree.nodes()[at];
    if (node.coordinate < 0) return check_leaf(at, within);
    box below = within;
    box above = within;
    const auto d = static_cast<std::size_t>(node.coordinate);
    if (d < plan_.ranges.size()) {
      const size_range& sizes = plan_.ranges[d];
      const auto last = static_cast<std::uint64_t>(std::max(node.threshold, 0.0));
      below.high[d] =
          std::clamp(last / sizes.multiple() * sizes.multiple(), within.low[d], within.high[d]);
      above.low[d] = std::clamp((last / sizes.multiple() + 1) * sizes.multiple(), within.low[d],
                                within.high[d]);
    }
    check_below(node.below, below);
    check_below(node.above, above);
  }

  void check_leaf(std::size_t leaf, const box& within) {
    std::vector<size_range> ranges;
    size_list middle;
    for (std::size_t d = 0; d < within.low.size(); ++d) {
      const size_range& all = plan_.ranges[d];
      ranges.emplace_back(within.low[d], within.high[d], all.scale(), all.multiple());
      middle.push_back(ranges.back().at(0.5));
    }
    std::vector<size_list> places;
    for (const size_list& each :
         {within.low, within.high, middle, spread_sizes(ranges, 1, leaf + 1).front()}) {
      const bool is_here = made_.tree.leaf(point_of(each, plan_.features)) == leaf;
      const bool is_new = std::ranges::find(places, each) == places.end();
      if (is_here && is_new) places.push_back(each);
    }
    const std::uint32_t chosen = made_.tree.nodes()[leaf].below;
    if (works(chosen, places)) return;
    for (std::uint32_t other = 0; other < made_.configurations.size(); ++other) {
      if (other == chosen || !works_at(made_.configurations[other], places)) continue;
      made_.tree = made_.tree.with_choice(leaf, other);
      return;
    }
    made_.tree =
        made_.tree.with_choice(leaf, static_cast<std::uint32_t>(made_.configurations.size()));
    made_.configurations.push_back(fallback_);
  }

  /// The corners and sizes that fill the ranges, the smallest first.
  std::vector<size_list> all_sizes() const {
    std::vector<size_list> sizes = corner_sizes(plan_.ranges);
    for (size_list& each : spread_sizes(plan_.ranges, most_sizes)) sizes.push_back(std::move(each));
    std::ranges::stable_sort(sizes, {}, [](const size_list& at) {
      double product = 1;
      for (const std::uint64_t size : at) product *= static_cast<double>(size);
      return product;
    });
    return sizes;
  }

  /// Returns for each configuration those of the sizes that it is chosen for.
  std::vector<std::vector<size_list>> sizes_by_choice(const std::vector<size_list>& sizes,
                                                      std::span<const cost_function> costs) {
    std::vector<std::vector<size_list>> chosen(costs.size());
    for (const size_list& at : sizes) {
      const auto best = find_cheapest(
          made_.factors, made_.corrections.at(at),
          [&](std::size_t place) { return costs[place](at); },
          [&](std::size_t place) { return from_.fits(made_.configurations[place], at); });
      if (best) chosen[*best].push_back(at);
    }
    return chosen;
  }

  /// Returns false if one of them does not work.
  bool check_all(const std::vector<std::vector<size_list>>& chosen, std::vector<bool>& is_checked) {
    for (std::size_t place = 0; place < chosen.size(); ++place) {
      const std::vector<size_list>& own = chosen[place];
      if (own.empty() || is_checked[place]) continue;
      is_checked[place] = true;
      std::vector<size_list> places;
      for (const std::size_t i :
           {std::size_t{0}, own.size() / 3, 2 * own.size() / 3, own.size() - 1}) {
        if (std::ranges::find(places, own[i]) == places.end()) places.push_back(own[i]);
      }
      if (works(place, places)) continue;
      made_.factors[place].back() = nowhere;
      return false;
    }
    return true;
  }

  bool works(std::size_t place, const std::vector<size_list>& places) {
    const bool has_time = !from_.should_stop();
    if (!works_at(made_.configurations[place], places)) return false;
    made_.unchecked += has_time && !from_.should_stop() ? 0 : 1;
    return true;
  }

  bool works_at(const configuration& one, const std::vector<size_list>& places) {
    return std::ranges::all_of(places, [&](const size_list& at) {
      if (from_.should_stop()) return true;  // what is in the ranges is taken to work
      return !from_.fits(one, at) || from_.check(at, std::span(&one, 1)).front();
    });
  }

  built_portfolio& made_;
  const portfolio_plan& plan_;
  const configuration& fallback_;
  portfolio_source& from_;
};

}  // namespace

void check_choices(built_portfolio& made, const portfolio_plan& plan,
                   const portfolio_source::configuration& fallback, portfolio_source& from) {
  checker checking(made, plan, fallback, from);
  if (made.factors.empty()) {
    checking.check_leaves();
  } else {
    checking.check_costs();
  }
}

}  // namespace tune
