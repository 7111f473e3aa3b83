// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/deadline/tail_statistics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tune::detail {
namespace {

std::size_t count_above(const std::vector<double>& values, double limit) {
  return static_cast<std::size_t>(
      std::ranges::count_if(values, [=](double each) { return each > limit; }));
}

double at_rank(const std::vector<double>& sorted, double part) {
  const double rank = std::ceil(part * static_cast<double>(sorted.size())) - 1;
  return sorted[static_cast<std::size_t>(
      std::clamp(rank, 0.0, static_cast<double>(sorted.size() - 1)))];
}

}  // namespace

std::size_t frame_blocks::above(double limit) const {
  std::size_t sum = 0;
  for (const auto& block : blocks_) sum += count_above(block, limit);
  return sum;
}

std::size_t frame_blocks::blocks_above(double limit) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      blocks_, [=](const auto& block) { return count_above(block, limit) > 0; }));
}

double frame_blocks::dispersion(double limit) const {
  const double part = static_cast<double>(above(limit)) / static_cast<double>(frames_);
  if (blocks_.size() < 2 || part == 0 || part == 1) return 1;
  double sum = 0;
  for (const auto& block : blocks_) {
    const auto n = static_cast<double>(block.size());
    const double off = static_cast<double>(count_above(block, limit)) - part * n;
    if (n > 0) sum += off * off / (n * part * (1 - part));
  }
  return std::max(1.0, sum / static_cast<double>(blocks_.size() - 1));
}

bounded_quantile frame_blocks::quantile(double part) const {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (frames_ == 0) return {infinity, infinity, infinity};
  std::vector<double> all;
  all.reserve(frames_);
  for (const auto& block : blocks_) all.insert(all.end(), block.begin(), block.end());
  std::ranges::sort(all);
  const double value = at_rank(all, part);
  constexpr double deviates = 1.96;
  const double n = static_cast<double>(frames_) / dispersion(value);
  const double wide = deviates * deviates / n;
  const double middle = (part + wide / 2) / (1 + wide);
  const double half = deviates / (1 + wide) * std::sqrt(part * (1 - part) / n + wide / (4 * n));
  const double upper = middle + half;
  // Beyond the longest frame nothing is known.
  const bool is_open = upper * static_cast<double>(frames_) > static_cast<double>(frames_) - 0.5;
  return {value, std::min(value, at_rank(all, middle - half)),
          is_open ? infinity : std::max(value, at_rank(all, upper))};
}

}  // namespace tune::detail
