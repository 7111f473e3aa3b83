// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "libtune/tune/trial.hpp"

namespace tune {

/// The trials of a search, one for each configuration, in the order of their first measurement.
class trial_list {
 public:
  /// The numbers of trials of each kind.
  struct counts {
    std::size_t taken_over = 0;
    std::size_t measured = 0;  ///< trials with a time
    std::size_t dropped = 0;   ///< measured trials that were eliminated early
    std::size_t failed = 0;    ///< trials without a time
    std::size_t skipped = 0;   ///< failed trials that were not run: skipped, over a limit, or known
  };

  /// Adds a trial, or replaces the trial of the same configuration.
  const trial& put(trial item);
  /// Returns the trial of a configuration; null without one.
  const trial* find(std::size_t configuration) const;

  const std::vector<trial>& all() const noexcept { return trials_; }
  const counts& count() const noexcept { return counts_; }
  /// Returns the least score; empty without scores.
  std::optional<run_time> best_score() const noexcept { return best_; }
  /// Returns the least score of the trials that were made in this search, without resumed ones: the
  /// device may have been faster or slower for those.
  std::optional<run_time> best_made() const noexcept { return best_made_; }

  /// Moves the trials out; the list is empty then.
  std::vector<trial> take();

 private:
  void count(const trial& item, std::size_t step);
  void compare(const trial& item);

  std::vector<trial> trials_;
  std::unordered_map<std::size_t, std::size_t> places_;  // by configuration
  counts counts_;
  std::optional<run_time> best_;
  std::optional<run_time> best_made_;
};

/// Returns true for a trial without a time that was not run: it was skipped, is over a limit, or is
/// known not to compile or is denied.
bool is_skipped(const trial& item) noexcept;

/// Returns the score of a trial that has one, at the level of the device at the start of the
/// search.
run_time score_at_begin(const trial& of) noexcept;

/// Returns true if one trial is better than another, both with a score: by the lesser score, for
/// equal ones by the earlier configuration of the space.
bool is_better(const trial& candidate, const trial& best) noexcept;

/// Trials without a time, of one outcome and with similar reasons: their first lines are equal, or
/// differ in numbers only.
struct reason_group {
  tune::outcome outcome = outcome::skipped;
  std::string reason;       ///< the first line of the first trial's reason
  bool differs = false;     ///< true if others have other numbers
  std::size_t count = 0;    ///< the number of these trials
  std::size_t example = 0;  ///< the index of the first of these trials
};

/// Returns the groups of all trials without a time: the largest first, equal ones in the order of
/// the trials.
std::vector<reason_group> group_reasons(const std::vector<trial>& trials);

}  // namespace tune
