// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/failure_rates.hpp"

#include <algorithm>

namespace tune::detail {

void failure_rates::learn(std::span<const std::uint32_t> point, bool failed) {
  const auto add = [&](count& to) {
    to.told += 1;
    to.failed += failed ? 1 : 0;
  };
  add(all_);
  if (counts_.size() < point.size()) counts_.resize(point.size());
  for (std::size_t axis = 0; axis < point.size(); ++axis) {
    if (counts_[axis].size() <= point[axis]) counts_[axis].resize(point[axis] + 1);
    add(counts_[axis][point[axis]]);
  }
}

// As if one more had been told of each candidate, that succeeded as often as all do.
double failure_rates::success(std::size_t axis, std::uint32_t candidate) const {
  if (axis >= counts_.size() || candidate >= counts_[axis].size()) return 1;
  const count& of = counts_[axis][candidate];
  const double usual = usual_success();
  return std::min(1.0, (of.told - of.failed + usual) / (of.told + 1) / usual);
}

double failure_rates::usual_success() const {
  return (all_.told - all_.failed + 0.5) / (all_.told + 1);
}

}  // namespace tune::detail
