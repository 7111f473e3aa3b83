// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

#include "libtune/measure/measure.hpp"
#include "libtune/tune/tuning_budget.hpp"

namespace tune {

/// A search's budget against the clock. Time counts only from when there is something that works,
/// so that a search never ends with nothing for want of time.
class search_clock {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  /// @param spent  of its time, before it starts
  search_clock(const tuning_budget& budget, const wall_clock& now,
               std::chrono::nanoseconds spent = std::chrono::nanoseconds(0))
      : budget_(budget), now_(now), start_(now() - spent) {}

  time_point now() const { return now_(); }
  std::chrono::nanoseconds elapsed() const { return now_() - start_; }
  std::optional<std::chrono::nanoseconds> left() const;

  /// Why no more configurations are to be begun, if so. A tenth of the time is kept for comparing
  /// the best.
  std::optional<search_end> why_end(std::size_t begun, std::optional<run_time> best) const;
  /// Whether even that is used up.
  bool is_over(std::optional<run_time> best) const;
  /// When to look at the clock again at the latest, if there is a limit of time.
  time_point next_look() const;

 private:
  tuning_budget budget_;
  const wall_clock& now_;
  time_point start_;
};

}  // namespace tune
