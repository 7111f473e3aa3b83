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
/// visits to the sentinel, which is one of them; every other turn in reverse, so that a slow drift
/// does not favour the first. A finalist that cannot win any more is eliminated. The round goes on
/// until one is within the indifference of all that remain, or all have had their runs.
///
/// If there are more finalists than may be kept alive, they are measured in groups, several turns
/// of each group before the next; then those that remain, again in groups, for twice as many turns.
/// If there is no time for all, only the best of them are compared.
class final_round {
 public:
  /// @param rivals  places in the book, of converged configurations without the sentinel; they
  ///                become finalists
  final_round(race_book& book, const race_settings& settings, std::vector<std::size_t> rivals);

  /// The one to run now; empty if the turn is over and the sentinel is due.
  std::optional<std::size_t> next();
  /// The number of runs to make of it.
  int runs() const noexcept { return runs_per_visit; }
  /// Goes on after the one that next named has been recorded in the book, or has failed there.
  void advance();

  /// Adds times to the device time spent, of a finalist or the sentinel.
  void spend(std::span<const run_time> times) noexcept;

  /// Ends a turn after its last block has been closed; runs that were discarded because the device
  /// drifted are repeated in the next turn.
  void end_turn(double margin);
  bool finished() const noexcept { return finished_; }

  /// True if it is one of those being measured in turn.
  bool is_playing(std::size_t place) const;
  /// Those tied with the best, the least score first; sentinel included.
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
  std::vector<std::size_t> waiting_;  // of this round, those that are in no group yet
  std::vector<std::size_t> group_;
  std::size_t position_ = 0;
  int quota_;     // turns of each in this round
  int done_ = 0;  // runs of each in the rounds before
  run_time spent_{0};
  bool backwards_ = false;
  bool finished_ = false;
};

}  // namespace tune::detail
