// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/deadline/knob_turns.hpp"

#include <algorithm>
#include <cmath>

namespace tune::detail {
namespace {

// The turns of one length before it doubles.
constexpr std::uint32_t of_one_length = 4;
// The frames of a candidate should have ended long before this many gaps have passed.
constexpr std::size_t patience = 10;

}  // namespace

void knob_turns::begin() noexcept {
  fault_ = knob_fault::none;
  turn_ = 0;
  left_ = under_way_ = gap_ = 0;
  needed_gap_ = gap_after(1);
}

std::size_t knob_turns::gap_after(std::size_t frames) const noexcept {
  return static_cast<std::size_t>(
      std::ceil(static_cast<double>(frames) * (1 - settings_.share) / settings_.share));
}

bool knob_turns::next(bool calm) noexcept {
  if (fault_ != knob_fault::none) return false;
  if (rest_ > 0) --rest_;
  if (left_ == 0) {
    ++gap_;
    if (under_way_ > 0 && gap_ > patience * needed_gap_) fault_ = knob_fault::never_ends;
    if (!calm || under_way_ > 0 || rest_ > 0 || gap_ <= needed_gap_) return false;
    const std::uint32_t doublings = std::min<std::uint32_t>(turn_ / of_one_length, 16);
    left_ = std::min(settings_.longest, std::size_t{1} << doublings);
    needed_gap_ = gap_after(left_);
    gap_ = 0;
    ++turn_;
  }
  --left_;
  ++under_way_;
  return true;
}

// A frame that waits for those of the candidate is not its like.
bool knob_turns::is_disturbed() const noexcept {
  const std::size_t after = std::min(2 * settings_.longest, needed_gap_ / 2);
  return turn_ > 0 && (under_way_ > 0 || gap_ < after);
}

void knob_turns::end(bool is_candidates, double latency) noexcept {
  if (is_candidates && under_way_ > 0) --under_way_;
  if (latency <= settings_.alarm) return;
  rest_ = settings_.rest;
  left_ = 0;
  if (fault_ != knob_fault::none) return;
  if (is_candidates) {
    fault_ = knob_fault::near_deadline;
  } else if (is_disturbed()) {
    fault_ = knob_fault::disturbs;
  }
}

}  // namespace tune::detail
