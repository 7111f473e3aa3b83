// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

#include "libtune/extra/deadline/frame_record.hpp"
#include "libtune/extra/deadline/pipeline_contest.hpp"
#include "libtune/extra/deadline/tail_statistics.hpp"

namespace tune::detail {

/// A configuration in a contest.
struct player {
  contest_standing standing;
  double frame_units = 0;
  frame_blocks blocks{};          // of the present test
  std::vector<double> figures{};  // of the present test, one for each run
  bool is_out = false;            // cannot win any more
};

/// Players, time and runs, for both kinds of contest.
class contest {
 public:
  contest(const pipeline_goal& goal, const std::vector<std::size_t>& configurations,
          const contest_settings& settings, const pipeline_runner& run)
      : goal_(goal), settings_(settings), run_(run), late_(goal.late) {
    for (const std::size_t number : configurations) {
      players_.push_back({.standing = {.configuration = number}});
    }
  }

 protected:
  double left() const { return std::max(0.0, settings_.budget.count() - spent_); }
  double deadline() const { return goal_.deadline.count(); }

  /// Runs a player once and adds the frames to its present test. The record is valid until the next
  /// run; null if it failed.
  const frame_record* run(player& of, double rate, double seconds) {
    record_ = run_(of.standing.configuration,
                   {.rate = rate, .duration = std::chrono::duration<double>(seconds)});
    const bool is_valid = record_ && !record_->latencies().empty() && record_->units() > 0 &&
                          record_->elapsed().count() > 0;
    if (record_) spent_ += std::max(0.0, record_->elapsed().count());
    if (!is_valid) {
      of.standing.failed = of.is_out = true;
      return nullptr;
    }
    of.frame_units =
        record_->units() / static_cast<double>(record_->latencies().size() + record_->excused());
    of.blocks.add(record_->latencies());
    if (const metric* figure = find_metric(record_->figures(), goal_.figure)) {
      of.figures.push_back(figure->value);
    }
    return &*record_;
  }

  static void begin_test(player& of) {
    of.blocks = {};
    of.figures.clear();
  }

  void end_test(player& of) const {
    contest_standing& standing = of.standing;
    standing.frames = of.blocks.frames();
    standing.late = of.blocks.above(deadline());
    const bounded_quantile tail = of.blocks.quantile(goal_.quantile);
    standing.value = tail.value;
    standing.lower = tail.lower;
    standing.upper = tail.upper;
  }

  static double late_part(const player& of) {
    return static_cast<double>(of.standing.late) /
           static_cast<double>(std::max<std::size_t>(of.standing.frames, 1));
  }

  pipeline_goal goal_;
  contest_settings settings_;
  const pipeline_runner& run_;
  std::vector<player> players_;
  double late_;  // the part that is allowed
  double spent_ = 0;

 private:
  std::optional<frame_record> record_;  // of the last run
};

/// The contest for the highest rate.
contest_result find_highest_rate(const pipeline_goal& goal,
                                 const std::vector<std::size_t>& configurations,
                                 const contest_settings& settings, const pipeline_runner& run);
/// The contest for the least latency, or figure, at a rate.
contest_result find_least_tail(const pipeline_goal& goal,
                               const std::vector<std::size_t>& configurations,
                               const contest_settings& settings, const pipeline_runner& run);

}  // namespace tune::detail
