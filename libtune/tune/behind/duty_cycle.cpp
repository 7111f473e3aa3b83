// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/behind/duty_cycle.hpp"

#include <algorithm>

namespace tune::detail {

void sentinel_judge::note(double time) {
  if (latest_.size() < kept) {
    latest_.push_back(time);
  } else {
    latest_[next_++ % kept] = time;
  }
}

std::optional<double> sentinel_judge::usual() const {
  constexpr std::size_t least = 4;
  if (latest_.size() < least) return std::nullopt;
  std::vector<double> sorted = latest_;
  std::ranges::sort(sorted);
  return sorted[sorted.size() / 4];
}

// A device that has become slower for good is the usual one once enough of it has been seen.
bool sentinel_judge::is_good(double before, double after) {
  const auto expected = usual();
  note(before);
  note(after);
  const bool disturbed = expected && std::max(before, after) > *expected * (1 + tolerance);
  if (!disturbed || repeats_ == most_repeats) {
    repeats_ = 0;
    return true;
  }
  ++repeats_;
  return false;
}

}  // namespace tune::detail
