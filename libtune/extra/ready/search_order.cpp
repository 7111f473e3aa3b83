// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/ready/search_order.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

namespace tune::detail {
namespace {

// The logarithm of the saving in the first second. It is finite.
double rate_of(const expected_search& search) {
  constexpr double least_saving = 1e-9;
  return std::log(std::max(search.saving, least_saving) / search.pace.count());
}

std::vector<std::size_t> by_rate(std::span<const expected_search> searches) {
  std::vector<std::size_t> order(searches.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](std::size_t index) { return rate_of(searches[index]); });
  return order;
}

}  // namespace

double expected_search::left_after(std::chrono::duration<double> spent) const noexcept {
  return saving * std::exp(-spent / pace);
}

// A search that has run for t saves saving / pace * exp(-t / pace) in its next second. In the best
// division all searches that run end with the same value of this, the level, and the others begin
// below it.
std::optional<planned_search> next_search(std::span<const expected_search> left,
                                          std::chrono::duration<double> time) {
  if (left.empty() || time < shortest_search) return std::nullopt;
  const std::vector<std::size_t> order = by_rate(left);
  double level = 0;
  double paces = 0;
  double weighted_rates = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const double pace = left[order[i]].pace.count();
    paces += pace;
    weighted_rates += pace * rate_of(left[order[i]]);
    level = (weighted_rates - time.count()) / paces;
    if (i + 1 == order.size() || rate_of(left[order[i + 1]]) <= level) break;
  }
  const std::size_t first = order.front();
  const std::chrono::duration<double> best = left[first].pace * (rate_of(left[first]) - level);
  return planned_search{first, std::clamp(best, shortest_search, time)};
}

std::vector<std::size_t> search_in_order(
    std::span<const expected_search> searches,
    const std::function<std::chrono::duration<double>()>& time_left,
    const std::function<void(std::size_t, std::chrono::duration<double>)>& search) {
  std::vector<expected_search> left;
  std::vector<std::size_t> indices = by_rate(searches);
  for (const std::size_t index : indices) left.push_back(searches[index]);
  while (const auto next = next_search(left, time_left())) {
    const auto at = static_cast<std::ptrdiff_t>(next->index);
    const std::size_t index = indices[next->index];
    left.erase(left.begin() + at);
    indices.erase(indices.begin() + at);
    search(index, next->time);
  }
  return indices;
}

}  // namespace tune::detail
