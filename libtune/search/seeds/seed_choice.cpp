// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/seeds/seed_choice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "libtune/search/model/loss_bound.hpp"

namespace tune {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();
// The number of candidates from each search.
constexpr std::size_t best_of_each = 16;
// The loss of configurations that are slower, failed or have no time.
constexpr double greatest_loss = 1;
// A gain below this part of the possible one is negligible: the next seeds are second choices.
constexpr double least_gain = 1e-4;
// Searches within this distance have nearly the same weight.
constexpr double near = 0.5;

double weight_of(const similar_search& search) {
  const double far = near + search.distance;
  return 1 / (far * far);
}

/// Returns the best configurations of each search without duplicates, those of the nearest first.
std::vector<std::size_t> candidates_of(std::span<const similar_search> searches) {
  std::vector<std::size_t> order(searches.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return searches[i].distance; });
  std::vector<std::size_t> candidates;
  for (const std::size_t i : order) {
    std::vector<std::pair<double, std::size_t>> sorted;
    for (const auto& [configuration, time] : searches[i].times) {
      if (std::isfinite(time)) sorted.emplace_back(time, configuration);
    }
    std::ranges::sort(sorted);
    if (sorted.size() > best_of_each) sorted.resize(best_of_each);
    for (const auto& [time, configuration] : sorted) {
      if (std::ranges::find(candidates, configuration) == candidates.end()) {
        candidates.push_back(configuration);
      }
    }
  }
  return candidates;
}

}  // namespace

double similar_search::best() const {
  double least = infinite;
  for (const auto& [configuration, time] : times) least = std::min(least, time);
  return least;
}

std::optional<double> similar_search::loss(std::size_t configuration) const {
  const auto found = times.find(configuration);
  if (found == times.end()) return std::nullopt;
  return found->second / best() - 1;
}

std::vector<std::size_t> rank_seeds(std::span<const similar_search> searches, std::size_t most) {
  std::vector<std::size_t> left = candidates_of(searches);
  std::vector<std::vector<double>> losses;  // by search, then by place in left
  double weights = 0;
  for (const similar_search& search : searches) {
    const double best = search.best();
    auto& row = losses.emplace_back();
    for (const std::size_t configuration : left) {
      const auto time = search.times.find(configuration);
      const double loss = time == search.times.end() ? greatest_loss : time->second / best - 1;
      row.push_back(std::min(greatest_loss, loss));
    }
    weights += weight_of(search);
  }
  std::vector<double> covered(searches.size(), greatest_loss);
  std::vector<bool> taken(left.size(), false);
  std::vector<std::size_t> seeds;
  while (seeds.size() < std::min(most, left.size())) {
    std::size_t best = left.size();
    std::pair<double, double> best_gain{-1, -1};
    for (std::size_t c = 0; c < left.size(); ++c) {
      if (taken[c]) continue;
      std::pair<double, double> gain{0, 0};  // at equal gains, the better one overall
      for (std::size_t s = 0; s < searches.size(); ++s) {
        const double weight = weight_of(searches[s]);
        gain.first += weight * std::max(0.0, covered[s] - losses[s][c]);
        gain.second += weight * (greatest_loss - losses[s][c]);
      }
      if (gain > best_gain) {
        best = c;
        best_gain = gain;
      }
    }
    const bool is_fresh =
        std::ranges::all_of(covered, [](double loss) { return loss == greatest_loss; });
    if (best_gain.first < least_gain * weights && !is_fresh) {
      std::ranges::fill(covered, greatest_loss);
      continue;
    }
    taken[best] = true;
    seeds.push_back(left[best]);
    for (std::size_t s = 0; s < searches.size(); ++s) {
      covered[s] = std::min(covered[s], losses[s][best]);
    }
  }
  return seeds;
}

namespace {

/// The losses at one search after each number of seeds.
std::vector<double> losses_at(const similar_search& judge, std::span<const std::size_t> seeds,
                              std::size_t most) {
  std::vector<double> losses;
  double least = infinite;
  for (const std::size_t seed : seeds) {
    if (losses.size() == most) break;
    const auto loss = judge.loss(seed);
    if (!loss && judge.has_all) continue;  // not in its space
    least = std::min(least, loss.value_or(infinite));
    losses.push_back(least);
  }
  losses.resize(most, least);
  return losses;
}

}  // namespace

std::vector<seed_loss> losses_of_seeds(
    std::span<const similar_search> searches,
    const std::function<double(std::size_t, std::size_t)>& between, std::size_t most,
    std::size_t& judges) {
  double radius = infinite;
  for (const similar_search& search : searches) {
    if (search.is_whole) radius = std::min(radius, search.distance);
  }
  std::vector<std::vector<double>> losses(most);  // by the number of seeds
  judges = 0;
  for (std::size_t i = 0; i < searches.size(); ++i) {
    if (!searches[i].is_whole || !std::isfinite(searches[i].best())) continue;
    std::vector<similar_search> others;
    for (std::size_t k = 0; k < searches.size(); ++k) {
      const double distance = k == i ? 0 : between(i, k);
      if (k == i || distance < radius * (1 - 1e-9)) continue;
      others.push_back(searches[k]);
      others.back().distance = distance;
    }
    if (others.empty()) continue;
    ++judges;
    const auto own = losses_at(searches[i], rank_seeds(others, 2 * most), most);
    for (std::size_t k = 0; k < most; ++k) losses[k].push_back(own[k]);
  }
  std::vector<seed_loss> found;
  for (const std::vector<double>& each : losses) {
    const double sum = std::accumulate(each.begin(), each.end(), 0.0);
    found.push_back({.expected = each.empty() ? infinite : sum / static_cast<double>(each.size()),
                     .bound = loss_bound(each, seed_coverage)});
  }
  return found;
}

}  // namespace tune
