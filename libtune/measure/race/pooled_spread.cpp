// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/measure/race/pooled_spread.hpp"

#include <algorithm>
#include <cmath>

namespace tune {
namespace {

constexpr double least = 0.0005;
// The rest of a large search would change nothing.
constexpr std::size_t enough = 4096;

}  // namespace

void pooled_spread::add(const samples& of) {
  if (of.size() < 2 || !of.valid() || deviations_.size() >= enough) return;
  const run_time centre = of.median();
  const auto count = static_cast<double>(of.size());
  // The median was taken from the same samples, which makes them look closer to it than they are.
  const double correction = std::sqrt(count / (count - 1));
  // The middle one of an odd number deviates from itself by nothing, and tells nothing.
  std::size_t skipped = of.size() % 2;
  for (const run_time time : of.times()) {
    if (skipped > 0 && time == centre) {
      --skipped;
      continue;
    }
    deviations_.push_back(std::abs(time / centre - 1) * correction);
  }
  if (deviations_.size() >= next_update_) update();
}

void pooled_spread::update() {
  next_update_ = deviations_.size() + std::max<std::size_t>(1, deviations_.size() / 8);
  const auto middle = deviations_.begin() + static_cast<std::ptrdiff_t>(deviations_.size() / 2);
  std::nth_element(deviations_.begin(), middle, deviations_.end());
  constexpr double normal_consistency = 1.4826;
  value_ = std::max(least, *middle * normal_consistency);
}

}  // namespace tune
