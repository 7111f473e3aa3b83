// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "libtune/measure/race/race_book.hpp"

namespace tune::detail {

/// The final round of a race: the finalists are measured in turn, a few runs each, between two
/// visits to the sentinel, which is one of them; every other turn in reverse, so that slow drift
/// does not favour the first. A finalist that can no longer win is eliminated. The round ends when
/// one is within the indifference of all remaining ones, or all have had their runs.
///
/// If there are more finalists than may be kept in memory, they are measured in groups, several
/// turns of each group before the next; then the remaining ones, again in groups, for twice as many
/// turns. If time is too short for all, only the best of them are compared.
class final_round {
 public:
  /// @param rivals  places in the book of converged configurations without the sentinel; they
  /// become finalists
  final_round(race_book& book, const race_settings& settings, std::vector<std::size_t> rivals);

  /// Returns the configuration to run now; empty if the turn is over and the sentinel is due.
  std::optional<std::size_t> next();
  /// The number of its runs.
  int runs() const noexcept { return runs_per_visit; }
  /// Continues after the configuration from next() has been recorded in the book, or has failed.
  void advance();

  /// Adds times of a finalist or the sentinel to the spent device time.
  void spend(std::span<const run_time> times) noexcept;

  /// Ends a turn after its last block has been closed; runs that were discarded because of drift
  /// are repeated in the next turn.
  void end_turn(double margin);
  bool finished() const noexcept { return finished_; }

  /// True if it is one of the finalists that are measured in turn.
  bool is_playing(std::size_t place) const;
  /// The finalists tied with the best, the smallest score first; including the sentinel.
  std::vector<std::size_t> tied();

 private:
  static constexpr int runs_per_visit = 2;

  void begin_turn();
  void begin_group();
  void begin_round();
  void keep_affordable();
  void judge(double margin);
  bool is_decided();
  bool is_done(std::size_t place) const;
  std::vector<std::size_t> remaining() const;
  interval bounds(std::size_t place);
  run_time score(std::size_t place);

  race_book& book_;
  race_settings settings_;
  std::vector<std::size_t> rivals_;
  std::vector<std::size_t> waiting_;  // in this round, those without a group so far
  std::vector<std::size_t> group_;
  std::size_t position_ = 0;
  int quota_;     // turns of each in this round
  int done_ = 0;  // runs of each in earlier rounds
  run_time spent_{0};
  bool backwards_ = false;
  bool finished_ = false;
};

}  // namespace tune::detail
