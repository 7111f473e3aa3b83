// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "libtune/tune/engine/prior_knowledge.hpp"
#include "libtune/tune/engine/trial_list.hpp"
#include "libtune/tune/observer.hpp"

namespace tune::detail {

/// One search that is made in parts, in sequence or in parallel, such as by several children: joins
/// their events to the events of one search, and holds the prior results for the next part.
class search_memory {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  /// @param known  results of earlier searches
  search_memory(search_identity identity, prior_knowledge known, time_point now)
      : identity_(std::move(identity)), known_(std::move(known)), begin_(now) {}

  const search_identity& identity() const noexcept { return identity_; }
  /// Returns the prior results for a part that begins this search, or continues it.
  prior_knowledge read_prior(time_point now) const;

  /// Converts an event of a part to the event for observers; empty if they have received it before,
  /// or if it is not an event of the search itself.
  std::optional<tuning_event> join(tuning_event event, time_point now);

  std::optional<run_time> best_score() const noexcept { return trials_.best_score(); }
  const trial_list& trials() const noexcept { return trials_; }

 private:
  using news = std::optional<tuning_event>;

  news join_one(search_started_event event, time_point now);
  news join_one(trial_event event, time_point now);
  news join_one(progress_event event, time_point now);
  news join_one(search_finished_event event, time_point now);
  template <class Other>
  news join_one(const Other&, time_point) {
    return std::nullopt;
  }

  search_identity identity_;
  prior_knowledge known_;
  time_point begin_;
  trial_list trials_;
  std::size_t taken_over_ = 0;
  std::size_t made_ = 0;
  bool started_ = false;
  bool finished_ = false;
};

}  // namespace tune::detail
