// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/ranged/portfolio_checks.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
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
constexpr std::size_t most_sizes = 200;  // candidates for the sizes of the runs
constexpr std::size_t most_places = 4;   // sizes at which a choice is run

/// Sorts sizes by their product.
void sort_by_product(std::vector<size_list>& sizes) {
  std::ranges::stable_sort(sizes, {}, [](const size_list& at) {
    double product = 1;
    for (const std::uint64_t size : at) product *= static_cast<double>(size);
    return product;
  });
}

/// Adds the first, the last and two sizes between them, up to the limit.
void add_spread(const std::vector<size_list>& some, std::vector<size_list>& places) {
  if (some.empty()) return;
  const std::size_t last = some.size() - 1;
  for (const std::size_t i : {std::size_t{0}, last, some.size() / 3, 2 * some.size() / 3}) {
    const bool is_new = std::ranges::find(places, some[i]) == places.end();
    if (is_new && places.size() < most_places) places.push_back(some[i]);
  }
}

class checker {
 public:
  checker(built_portfolio& made, const portfolio_plan& plan, std::span<const size_list> compared,
          const configuration& fallback, portfolio_source& from)
      : made_(made), plan_(plan), fallback_(fallback), from_(from) {
    for (const size_list& each : compared) {
      (are_inside(plan.ranges, each) ? compared_ : outside_).push_back(each);
    }
  }

  void check_leaves() {
    box whole;
    for (const size_range& each : plan_.ranges) {
      whole.low.push_back(each.low());
      whole.high.push_back(each.high());
      whole.step.push_back(each.multiple());
    }
    check_below(0, whole);
  }

  void check_costs() {
    std::vector<cost_function> costs;
    for (const configuration& each : made_.configurations) costs.push_back(plan_.costs(each));
    const std::vector<size_list> sizes = all_sizes();
    std::vector<bool> is_checked(costs.size());
    while (
        !check_all(sizes_by_choice(sizes, costs), sizes_by_choice(outside_, costs), is_checked)) {
      // The sizes of a failed choice pass to other configurations, whose sizes thus change.
      is_checked.assign(is_checked.size(), false);
      made_.unchecked = 0;
    }
  }

 private:
  /// The lowest and highest size of each range, and the divisor of its sizes.
  struct box {
    size_list low;
    size_list high;
    size_list step;
  };

  void check_below(std::size_t at, const box& within) {
    const size_tree::node node = made_.tree.nodes()[at];
    if (node.coordinate < 0) return check_leaf(at, within);
    box below = within;
    box above = within;
    const auto d = static_cast<std::size_t>(node.coordinate);
    const std::size_t first_power = plan_.ranges.size() + 1;
    const auto last = static_cast<std::uint64_t>(
        std::clamp(node.threshold, 0.0, static_cast<double>(size_range::most)));
    if (d >= first_power && d < first_power + plan_.ranges.size()) {
      std::uint64_t& step = above.step[d - first_power];
      const std::uint64_t more = std::bit_ceil(last + 1) / std::gcd(step, std::bit_ceil(last + 1));
      if (more <= within.high[d - first_power] / step) step *= more;
    }
    if (d < plan_.ranges.size()) {
      const size_range& sizes = plan_.ranges[d];
      below.high[d] =
          std::clamp(last / sizes.multiple() * sizes.multiple(), within.low[d], within.high[d]);
      above.low[d] = std::clamp((last / sizes.multiple() + 1) * sizes.multiple(), within.low[d],
                                within.high[d]);
    }
    check_below(node.below, below);
    check_below(node.above, above);
  }

  void check_leaf(std::size_t leaf, const box& within) {
    const std::uint32_t chosen = made_.tree.nodes()[leaf].below;
    const bool has_outside = std::ranges::any_of(outside_, [&](const size_list& at) {
      return made_.tree.leaf(point_of(at, plan_.features)) == leaf;
    });
    const auto works_here = [&](std::uint32_t place) {
      return works(place, places_of(leaf, within, made_.configurations[place]), has_outside);
    };
    if (works_here(chosen)) return;
    for (std::uint32_t other = 0; other < made_.configurations.size(); ++other) {
      if (other == chosen || !works_here(other)) continue;
      made_.tree = made_.tree.with_choice(leaf, other);
      return;
    }
    made_.tree =
        made_.tree.with_choice(leaf, static_cast<std::uint32_t>(made_.configurations.size()));
    made_.configurations.push_back(fallback_);
  }

  /// Returns the sizes at which a configuration is run for a leaf: the ends, the middle and a size
  /// between. Because features and products also separate leaves, some of these may lie in other
  /// leaves; then other sizes of the leaf are taken, including compared ones.
  std::vector<size_list> places_of(std::size_t leaf, const box& within, const configuration& one) {
    std::vector<size_range> ranges;
    std::vector<size_list> places(3);
    for (std::size_t d = 0; d < within.low.size(); ++d) {
      const size_range& all = plan_.ranges[d];
      const std::uint64_t first = (within.low[d] + within.step[d] - 1) / within.step[d];
      const bool has_some = first * within.step[d] <= within.high[d];
      ranges.emplace_back(within.low[d], within.high[d], all.scale(),
                          has_some ? within.step[d] : all.multiple());
      places[0].push_back(ranges.back().low());
      places[1].push_back(ranges.back().high());
      places[2].push_back(ranges.back().at(0.5));
    }
    const auto is_elsewhere = [&](const size_list& at) {
      return made_.tree.leaf(point_of(at, plan_.features)) != leaf || !from_.fits(one, at);
    };
    places.push_back(spread_sizes(ranges, 1, leaf + 1).front());
    std::erase_if(places, is_elsewhere);
    std::ranges::sort(places);
    places.erase(std::unique(places.begin(), places.end()), places.end());
    if (places.size() == most_places) return places;
    std::vector<size_list> others = compared_;
    for (size_list& each : spread_sizes(ranges, most_sizes)) others.push_back(std::move(each));
    std::erase_if(others, is_elsewhere);
    sort_by_product(others);
    add_spread(others, places);
    return places;
  }

  /// Returns the corners, sizes that fill the ranges, and the compared sizes, the smallest first.
  std::vector<size_list> all_sizes() const {
    std::vector<size_list> sizes = corner_sizes(plan_.ranges);
    for (size_list& each : spread_sizes(plan_.ranges, most_sizes)) sizes.push_back(std::move(each));
    sizes.insert(sizes.end(), compared_.begin(), compared_.end());
    sort_by_product(sizes);
    return sizes;
  }

  /// Returns for each configuration the sizes for which it is chosen.
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
  bool check_all(const std::vector<std::vector<size_list>>& chosen,
                 const std::vector<std::vector<size_list>>& outside,
                 std::vector<bool>& is_checked) {
    for (std::size_t place = 0; place < chosen.size(); ++place) {
      const bool is_chosen_nowhere = std::isinf(made_.factors[place].back());
      if (is_chosen_nowhere || is_checked[place]) continue;
      is_checked[place] = true;
      std::vector<size_list> places;
      add_spread(chosen[place], places);
      if (works(place, places, !outside[place].empty())) continue;
      made_.factors[place].back() = nowhere;
      return false;
    }
    return true;
  }

  /// Runs a configuration at sizes that it fits. Inside the ranges, a configuration without time or
  /// sizes to run it is assumed to work, and counts as unchecked. The fallback needs no run, and
  /// choices outside of the ranges are checked there.
  bool works(std::size_t place, const std::vector<size_list>& places, bool is_chosen_outside) {
    const configuration& one = made_.configurations[place];
    for (const size_list& at : places) {
      if (from_.should_stop()) break;
      if (!from_.check(at, std::span(&one, 1)).front()) return false;
    }
    const bool is_known = !places.empty() || one == fallback_ || is_chosen_outside;
    made_.unchecked += is_known && !from_.should_stop() ? 0 : 1;
    return true;
  }

  built_portfolio& made_;
  const portfolio_plan& plan_;
  std::vector<size_list> compared_;  // in the ranges
  std::vector<size_list> outside_;   // the others
  const configuration& fallback_;
  portfolio_source& from_;
};

}  // namespace

void check_choices(built_portfolio& made, const portfolio_plan& plan,
                   std::span<const size_list> compared,
                   const portfolio_source::configuration& fallback, portfolio_source& from) {
  checker checking(made, plan, compared, fallback, from);
  if (made.factors.empty()) {
    checking.check_leaves();
  } else {
    checking.check_costs();
  }
}

}  // namespace tune
