// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "libtune/measure/race/race_book.hpp"

namespace tune::detail {

/// The last part of a race: those that may be the best are measured in turn, a few runs each,
/// between two visits to the sentinel, which is one of them; every other turn in reverse, so that a
/// slow drift does not favour the first. Who cannot win any more leaves. It goes on until one is
/// within the indifference of all that remain, or everybody has had his runs.
///
/// Where there are more than may be kept alive, they play in groups, and each group plays several
/// turns before the next; then what remains plays on in groups for twice as many. Where there is no
/// time for all, the best of them play.
class play_off {
 public:
  /// @param rivals  places in the book, of settled configurations without the sentinel; they
  ///                become finalists
  play_off(race_book& book, const race_settings& settings, std::vector<std::size_t> rivals);

  /// Who has to run now, and how often; empty if the turn is over and the sentinel is due.
  std::optional<std::size_t> next();
  int runs() const noexcept { return runs_per_visit; }
  /// The one that next named has been recorded in the book, or has failed there.
  void advance();

  /// These times were measured for it, of whoever.
  void spend(std::span<const run_time> times) noexcept;

  /// The last block of a turn has been closed. Whoever lost runs, because the device moved, has
  /// them again in the next.
  void end_turn(double margin);
  bool finished() const noexcept { return finished_; }

  /// Whether it is one of those being measured in turn.
  bool is_playing(std::size_t place) const;
  /// Those that cannot be told from the best, the least score first; sentinel included.
  std::vector<std::size_t> tied();

 private:
  static constexpr int runs_per_visit = 2;

  void begin_turn();
  void begin_group();
  void begin_round();
  void keep_affordable();
  void judge(double margin);
  bool is_decided();
  bool has_played(std::size_t place) const;
  std::vector<std::size_t> remaining() const;
  interval bounds(std::size_t place);
  run_time score(std::size_t place);

  race_book& book_;
  race_settings settings_;
  std::vector<std::size_t> rivals_;
  std::vector<std::size_t> waiting_;  // of this round, those that are in no group yet
  std::vector<std::size_t> group_;
  std::size_t position_ = 0;
  int quota_;       // turns of each in this round
  int played_ = 0;  // runs of each in the rounds before
  run_time spent_{0};
  bool backwards_ = false;
  bool finished_ = false;
};

}  // namespace tune::detail
