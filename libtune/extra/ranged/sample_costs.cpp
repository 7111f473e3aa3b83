// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/ranged/sample_costs.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

namespace tune {
namespace {

constexpr double no_limit = std::numeric_limits<double>::infinity();
constexpr int most_passes = 4;        // of improvements
constexpr double failing_cost = 1e6;  // finite, so that sums can be compared
constexpr double least_gain = sample_costs::least_gain;

using numbers = std::vector<std::size_t>;

/// Greedily chooses configurations for an ideal choice that knows each size.
numbers cover(const sample_costs& all, std::size_t most, const kept_configuration& kept) {
  numbers chosen;
  std::vector<double> least(all.samples(), no_limit);
  double sum = no_limit;
  if (kept) {
    chosen.push_back(*kept);
    for (std::size_t s = 0; s < all.samples(); ++s) least[s] = all.at(s, *kept);
    sum = std::accumulate(least.begin(), least.end(), 0.0);
  }
  while (chosen.size() < most) {
    std::size_t best = 0;
    double best_sum = no_limit;
    for (std::size_t c = 0; c < all.configurations(); ++c) {
      double with = 0;
      for (std::size_t s = 0; s < all.samples(); ++s) with += std::min(least[s], all.at(s, c));
      if (with < best_sum) std::tie(best, best_sum) = std::pair(c, with);
    }
    if (!chosen.empty() && sum - best_sum < least_gain) break;
    chosen.push_back(best);
    sum = best_sum;
    for (std::size_t s = 0; s < all.samples(); ++s) least[s] = std::min(least[s], all.at(s, best));
  }
  return chosen;
}

/// Improves that choice by exchanging single configurations, except the kept one, while that
/// lowers the losses.
numbers exchanged(const sample_costs& all, numbers chosen, const kept_configuration& kept) {
  std::vector<double> without(all.samples());
  bool is_better = chosen.size() > 1;
  for (int pass = 0; is_better && pass < most_passes; ++pass) {
    is_better = false;
    for (std::size_t& each : chosen) {
      if (each == kept) continue;
      std::ranges::fill(without, no_limit);
      for (const std::size_t other : chosen) {
        for (std::size_t s = 0; other != each && s < all.samples(); ++s) {
          without[s] = std::min(without[s], all.at(s, other));
        }
      }
      const auto sum_with = [&](std::size_t c) {
        double sum = 0;
        for (std::size_t s = 0; s < all.samples(); ++s) sum += std::min(without[s], all.at(s, c));
        return sum;
      };
      double least = sum_with(each) - least_gain;
      for (std::size_t c = 0; c < all.configurations(); ++c) {
        const double sum = sum_with(c);
        if (sum >= least) continue;
        std::tie(each, least, is_better) = std::tuple(c, sum, true);
      }
    }
  }
  return chosen;
}

}  // namespace

sample_costs::sample_costs(const size_times& times, double bound) {
  double total = 0;
  for (const auto& sample : times.samples) total += sample.weight;
  const double mean = total / static_cast<double>(times.samples.size());
  for (std::size_t s = 0; s < times.samples.size(); ++s) {
    auto& row = rows_.emplace_back();
    for (std::size_t c = 0; c < times.samples[s].times.size(); ++c) {
      const double loss = times.loss(s, c);
      const double cost = std::isinf(loss) ? failing_cost : counted_loss(loss, bound);
      row.push_back(cost * times.samples[s].weight / mean);
    }
  }
}

std::vector<std::size_t> most_useful(const sample_costs& all, std::size_t most,
                                     const kept_configuration& kept) {
  return exchanged(all, cover(all, most, kept), kept);
}

}  // namespace tune
