// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/behind/duty_cycle.hpp"

#include <algorithm>

namespace tune::detail {

void sentinel_judge::note(double time) {
  if (latest_.size() < kept) {
    latest_.push_back(time);
  } else {
    latest_[next_++ % kept] = time;
  }
}

std::vector<double> sentinel_judge::sorted() const {
  std::vector<double> all = latest_;
  std::ranges::sort(all);
  return all;
}

std::optional<double> sentinel_judge::usual() const {
  if (latest_.size() < enough) return std::nullopt;
  return sorted()[latest_.size() / 2];
}

// If a device has become slower for good, its new time becomes the usual one after enough samples.
bool sentinel_judge::is_good(double time) {
  bool disturbed = false;
  if (latest_.size() >= enough) {
    const std::vector<double> all = sorted();
    const double median = all[all.size() / 2];
    const double range = all[3 * all.size() / 4] - all[all.size() / 4];
    disturbed = time > median + std::max(tolerance * median, ranges * range);
  }
  note(time);
  if (!disturbed || repeats_ == most_repeats) {
    repeats_ = 0;
    return true;
  }
  ++repeats_;
  return false;
}

}  // namespace tune::detail
