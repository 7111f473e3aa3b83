// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/ranged/sample_places.hpp"

#include <algorithm>
#include <functional>
#include <span>
#include <utility>

#include "libtune/extra/ranged/size_range.hpp"

namespace tune {
namespace {

/// Returns sizes to search at: large ones, then for each range a small one with the others in the
/// middle, then evenly spread ones.
std::vector<size_list> searched_sizes(std::span<const size_range> ranges, std::size_t count) {
  constexpr double large = 0.8;
  constexpr double middle = 0.6;
  constexpr double small = 0.2;
  std::vector<size_list> places;
  for (std::size_t i = 0; i <= ranges.size() && places.size() < count; ++i) {
    size_list& at = places.emplace_back();
    for (std::size_t d = 0; d < ranges.size(); ++d) {
      at.push_back(ranges[d].at(i == 0 ? large : d + 1 == i ? small : middle));
    }
  }
  // Small ranges repeat sizes, so twice as many are drawn.
  for (size_list& each : spread_sizes(ranges, 2 * count)) places.push_back(std::move(each));
  return places;
}

std::vector<asked_sizes> wanted(const portfolio_plan& plan) {
  std::vector<asked_sizes> asked;
  for (const asked_sizes& each : plan.asked) {
    if (each.sizes.size() == plan.ranges.size() && each.count > 0) asked.push_back(each);
  }
  std::ranges::stable_sort(asked, std::ranges::greater(), &asked_sizes::count);
  std::stable_partition(asked.begin(), asked.end(), [&](const asked_sizes& each) {
    return !are_inside(plan.ranges, each.sizes);
  });
  if (asked.size() > plan.most_asked) asked.resize(plan.most_asked);
  return asked;
}

}  // namespace

sample_places::sample_places(const portfolio_plan& plan) : plan_(plan), asked_(wanted(plan)) {}

std::vector<size_list> sample_places::searches() const {
  std::vector<asked_sizes> asked = asked_;
  std::ranges::stable_sort(asked, std::ranges::greater(), &asked_sizes::count);
  std::vector<size_list> places;
  for (const asked_sizes& each : asked) {
    if (2 * places.size() < plan_.searches) places.push_back(each.sizes);
  }
  for (const size_list& each : searched_sizes(plan_.ranges, plan_.searches)) {
    const bool is_new = std::ranges::find(places, each) == places.end();
    if (is_new && places.size() < plan_.searches) places.push_back(each);
  }
  return places;
}

std::vector<size_list> sample_places::comparisons() const {
  std::vector<size_list> all = spread_sizes(plan_.ranges, most());
  std::vector<size_list> corners = corner_sizes(plan_.ranges);
  const auto place = static_cast<std::ptrdiff_t>(std::min(all.size(), corners.size()));
  all.insert(all.begin() + place, corners.begin(), corners.end());
  return all;
}

}  // namespace tune
