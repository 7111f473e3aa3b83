// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "libtune/measure/race/race_book.hpp"

namespace tune::detail {

/// The final round of a race on a device whose clock jumps. In each turn the reference and a group
/// of finalists are run in a random order, and each finalist's cost is divided by the reference's
/// cost in the same turn. As the order is random, a jump within a turn makes a quotient too large
/// as often as too small, whatever its cause and its period: the median of the quotients is
/// correct, and so is its interval by order statistics. There are no visits to a sentinel and no
/// repeated turns, so the number of runs is bounded.
class paired_round {
 public:
  /// @param places  in the book, of at least two screened configurations, the best first, which is
  /// the reference; they become finalists
  paired_round(race_book& book, const race_settings& settings, std::vector<std::size_t> places);

  /// The configuration to run now; empty after the end.
  std::optional<std::size_t> next();
  /// The number of its runs, alike for all in a turn. It varies at random: if each were run once
  /// and the clock jumped at every launch, two configurations would never meet the same state.
  int runs() const noexcept { return runs_; }
  /// Takes the times of the configuration from next().
  void add(std::span<const run_time> times);
  /// The configuration from next() has failed. False if it was the reference.
  bool fail();

  bool finished() const noexcept { return finished_; }
  std::size_t reference() const noexcept { return reference_; }
  /// True if it is run in the present turns.
  bool is_playing(std::size_t place) const;
  /// The finalists tied with the best, the smallest quotient first.
  std::vector<std::size_t> tied() const;
  /// The finalists that may be faster than the best by more than the tolerance: too few runs
  /// were affordable, or the quotients vary too much.
  std::vector<std::size_t> undecided() const;

 private:
  struct player {
    std::size_t place;
    std::vector<run_time> quotients{};  // as times, for their statistics
    std::optional<run_time> cost{};     // of the present turn
    bool affordable = true;
    double score = 1;  // the median of the quotients
    interval bounds{};
  };

  void begin_round();
  void keep_affordable();
  bool begin_group();
  void begin_turn();
  void end_turn();
  std::size_t random(std::size_t below);
  void judge();
  interval bounds_of(const player& of, double at) const;
  bool is_decided() const;
  bool is_in(const player& of) const;
  std::size_t best() const;

  race_book& book_;
  race_settings settings_;
  std::size_t reference_;
  std::vector<player> players_;       // the first is the reference
  std::vector<std::size_t> waiting_;  // indices of players, without a group in this round
  std::vector<std::size_t> group_;    // the reference first
  std::vector<std::size_t> order_;    // of the present turn
  std::size_t position_ = 0;
  int runs_ = 1;
  int turns_ = 0;      // of the present group in this round
  int quota_ = 0;      // turns of each group in this round
  int all_turns_ = 0;  // of each finalist, in earlier rounds
  run_time spent_{0};
  std::uint64_t random_ = 1;
  bool finished_ = false;
};

}  // namespace tune::detail
