// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <exception>
#include <string>

#include "libtune/extra/live/drift_watch.hpp"
#include "libtune/extra/live/live_key.hpp"
#include "libtune/extra/live/live_trial.hpp"

namespace tune::detail {

/// Counts the changes of a live pipeline, and passes them to the log and the observers.
class live_report {
 public:
  /// Thread-safe.
  live_counts counts() const noexcept;
  /// Counts the start of a trial; on the pipeline's thread.
  void count_trial() noexcept { count(live_change::trying); }
  /// Passes an event on, and counts it unless it is a trial. @param logged  false: not logged
  void tell(const live_key& key, const live_event& event, bool logged = true);

 private:
  void count(live_change change) noexcept {
    counts_[static_cast<std::size_t>(change)].fetch_add(1, std::memory_order_relaxed);
  }

  std::array<std::atomic<std::size_t>, 5> counts_{};
};

/// The text of an exception.
std::string what_of(const std::exception_ptr& failure);

/// The event of a drift.
live_event drift_event(const live_key& key, const drift& found);

/// The outcome of a trial, in words.
std::string trial_text(const live_trial& trial);

}  // namespace tune::detail
