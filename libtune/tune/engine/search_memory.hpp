// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
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

/// Joins the searches of an autotune function that is called again in this process, because it had
/// to release its memory: observers see each as one search that continues with the trials so far.
/// One thread uses it.
class joined_searches final : public observer {
 public:
  /// All references must outlive it.
  /// @param subject  of the function; events of other tunings are passed on unchanged
  joined_searches(const tuning_subject& subject, const prior_reader& read_prior,
                  std::span<const std::shared_ptr<observer>> observers)
      : subject_(subject), read_prior_(read_prior), observers_(observers) {}

  /// Notes that the function is called again.
  void begin_again() { asked_ = 0; }
  /// Returns the prior results of the search that begins now.
  prior_knowledge read_prior(const search_identity& search);
  /// The number of trials so far.
  std::size_t made() const noexcept { return made_; }

  void on(const tuning_event& event) override;

 private:
  const tuning_subject& subject_;
  const prior_reader& read_prior_;
  std::span<const std::shared_ptr<observer>> observers_;
  std::vector<std::unique_ptr<search_memory>> searches_;  // in the order of their start
  std::size_t asked_ = 0;                                 // started by the present call
  std::size_t made_ = 0;
};

}  // namespace tune::detail
