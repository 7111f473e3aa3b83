// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/ranged/size_times.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tune {
namespace {

constexpr double unbounded = std::numeric_limits<double>::infinity();
constexpr double past_bound = 4;  // additional weight of losses beyond the bound

/// Returns the loss with this weighted loss; the inverse of counted_loss.
double loss_that_counts(double counted, double bound) {
  return counted <= bound ? counted : (counted + past_bound * bound) / (1 + past_bound);
}

}  // namespace

double counted_loss(double loss, double bound) noexcept {
  return loss + past_bound * std::max(0.0, loss - bound);
}

double size_times::loss(std::size_t sample, std::size_t configuration) const {
  const std::vector<double>& row = samples[sample].times;
  return row[configuration] / *std::ranges::min_element(row) - 1;
}

size_times smoothed(const size_times& times, double width) {
  if (!(width > 0)) return times;
  const std::size_t count = times.samples.size();
  // Logarithms of times relative to the geometric mean of the working configurations.
  std::vector<std::vector<double>> ratios(count);
  std::vector<double> means(count);
  for (std::size_t s = 0; s < count; ++s) {
    double sum = 0;
    std::size_t working = 0;
    for (const double time : times.samples[s].times) {
      ratios[s].push_back(std::log(time));
      if (std::isinf(time)) continue;
      sum += ratios[s].back();
      ++working;
    }
    means[s] = sum / static_cast<double>(std::max<std::size_t>(working, 1));
    for (double& each : ratios[s]) each -= means[s];
  }
  size_times made = times;
  for (std::size_t s = 0; s < count; ++s) {
    size_times::sample& own = made.samples[s];
    if (own.place.empty()) continue;
    std::vector<double> weights(count);
    for (std::size_t other = 0; other < count; ++other) {
      const std::vector<double>& place = times.samples[other].place;
      double square = 0;
      for (std::size_t d = 0; d < place.size() && d < own.place.size(); ++d) {
        square += (place[d] - own.place[d]) * (place[d] - own.place[d]);
      }
      if (!place.empty()) weights[other] = std::exp(-square / (2 * width * width));
    }
    for (std::size_t c = 0; c < own.times.size(); ++c) {
      if (std::isinf(own.times[c])) continue;
      double sum = 0;
      double weight = 0;
      for (std::size_t other = 0; other < count; ++other) {
        if (weights[other] < 1e-3 || std::isinf(ratios[other][c])) continue;
        sum += weights[other] * ratios[other][c];
        weight += weights[other];
      }
      own.times[c] = std::exp(means[s] + sum / weight);
    }
  }
  return made;
}

size_times with_between(const size_times& times, const std::vector<size_times::sample>& between,
                        double bound) {
  constexpr double width = 0.06;      // of the neighbourhood, the standard deviation of a Gaussian
  constexpr double own_share = 0.05;  // the part of its weight that a sample keeps
  constexpr double least_near = 1e-3;
  constexpr double most_loss = 1;
  size_times made = times;
  if (between.empty()) return made;
  const std::size_t count = times.samples.front().times.size();
  double shared = 0;                     // weight
  std::vector<std::vector<double>> all;  // costs
  for (std::size_t s = 0; s < times.samples.size(); ++s) {
    if (!times.samples[s].place.empty()) {
      shared += (1 - own_share) * times.samples[s].weight;
      made.samples[s].weight *= own_share;
    }
    std::vector<double>& own = all.emplace_back();
    for (std::size_t c = 0; c < count; ++c) {
      own.push_back(counted_loss(std::min(times.loss(s, c), most_loss), bound));
    }
  }
  const double weight = shared / static_cast<double>(between.size());
  std::vector<double> squares(times.samples.size());  // of distances
  std::vector<double> sums(count);
  for (const size_times::sample& each : between) {
    for (std::size_t s = 0; s < squares.size(); ++s) {
      const std::vector<double>& place = times.samples[s].place;
      squares[s] = place.size() == each.place.size() ? 0 : unbounded;
      for (std::size_t d = 0; d < std::min(place.size(), each.place.size()); ++d) {
        squares[s] += (place[d] - each.place[d]) * (place[d] - each.place[d]);
      }
    }
    const auto nearest = std::ranges::min_element(squares);
    if (std::isinf(*nearest)) continue;
    std::ranges::fill(sums, 0.0);
    double sum = 0;
    for (std::size_t s = 0; s < squares.size(); ++s) {
      const double near = std::exp((*nearest - squares[s]) / (2 * width * width));
      if (near < least_near) continue;
      sum += near;
      for (std::size_t c = 0; c < count; ++c) sums[c] += near * all[s][c];
    }
    size_times::sample& added = made.samples.emplace_back(each);
    added.weight = weight;
    const std::vector<double>& there =
        times.samples[static_cast<std::size_t>(nearest - squares.begin())].times;
    for (std::size_t c = 0; c < count; ++c) {
      added.times.push_back(std::isinf(there[c]) ? unbounded
                                                 : 1 + loss_that_counts(sums[c] / sum, bound));
    }
  }
  return made;
}

}  // namespace tune
