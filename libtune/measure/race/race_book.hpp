// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "libtune/measure/timing/drift_monitor.hpp"
#include "libtune/measure/timing/samples.hpp"
#include "libtune/measure/timing/settings.hpp"

namespace tune {

/// The present relative spread of runs of one configuration on this device, estimated from all
/// configurations together, for those with only one or two runs. Robust: the median of all
/// deviations, so neither outliers nor a few unsteady configurations change it.
class pooled_spread {
 public:
  /// @param assumed  the relative spread before the first samples
  explicit pooled_spread(double assumed = 0.02) : value_(assumed) {}

  /// Adds the samples of one configuration, taken close together. Single and invalid samples are
  /// ignored.
  void add(const samples& of);

  /// Relative to the median, like samples::relative_spread; at least 0.05 %, because a timer that
  /// always returns the same time is coarse rather than exact.
  double value() const noexcept { return value_; }

 private:
  void update();

  std::vector<double> deviations_;
  std::size_t next_update_ = 8;
  double value_;
};

/// The progress of a configuration in a race.
enum class race_state : std::uint8_t {
  waiting,  ///< has arrived, or has to be measured again
  running,
  dropped,     ///< cannot win
  converged,   ///< has its score of the screening
  finalist,    ///< is in the final round
  eliminated,  ///< was in the final round, and cannot win
  failed
};

namespace detail {

/// Converts a time of a configuration to a cost, smaller is better.
using race_cost = std::function<run_time(run_time)>;

/// Consecutive runs of a configuration in one block.
struct race_visit {
  std::size_t block;
  bool final;      // of the final round
  bool discarded;  // the device changed its speed meanwhile
  int runs;        // at least the number of times
  std::vector<run_time> times;
  double factor = 0;  // for a visit to the sentinel, which has its own level;
                      // 0: the factor of its block

  run_time total() const;
};

/// The measurements between two visits to the sentinel.
struct race_block {
  double factor = 1;        // converts a time of the block to an adjusted one
  run_time spent{0};        // device time
  bool unresolved = false;  // used although the device changed its speed
};

struct race_entry {
  std::size_t configuration;
  std::size_t place;
  double rank;
  race_cost cost{};  // empty: the time
  race_state state = race_state::waiting;
  int runs = 0;           // in the present stage
  run_time spent{0};      // in the present stage
  bool doubtful = false;  // was measured in an unresolved block
  std::vector<race_visit> visits{};
  // Derived from the visits; valid until one is added or the level of a block is corrected.
  std::optional<samples> adjusted{};
  run_time median{0};
  run_time time{0};  // the median of the times before conversion to costs
  interval bounds{};
};

/// The records of a race: all measured times with their blocks, and the sentinel's times in these.
/// For comparisons, times are adjusted to the level of the device at the first visit to the first
/// sentinel, and converted to costs if an entry has a cost.
class race_book {
 public:
  explicit race_book(const race_settings& settings);

  race_entry& add(std::size_t configuration, double rank, race_cost cost = {});
  race_entry& at(std::size_t configuration);
  const race_entry& at(std::size_t configuration) const;
  std::deque<race_entry>& entries() noexcept { return entries_; }
  const std::deque<race_entry>& entries() const noexcept { return entries_; }

  /// Adds the times of some runs to the open block.
  void record(race_entry& entry, std::span<const run_time> times, int runs, bool final);

  /// The sentinel, by its place in entries; empty before one is chosen.
  std::optional<std::size_t> sentinel() const noexcept { return sentinel_; }
  /// Makes a configuration that has just converged the sentinel.
  void open(race_entry& sentinel);
  /// Makes it the sentinel by a recorded visit to it; returns disturbed if another visit is needed.
  drift_verdict open(race_entry& sentinel, std::span<const run_time> times);
  /// Removes the sentinel.
  void lose_sentinel() noexcept { sentinel_.reset(); }
  /// Ends the block by a visit to the sentinel and begins the next one, which is empty and waits
  /// for another visit if the device is disturbed.
  drift_verdict close(std::span<const run_time> times);

  std::size_t open_block() const noexcept { return blocks_.size() - 1; }
  const std::vector<race_block>& blocks() const noexcept { return blocks_; }
  /// The number of runs in the open block, without the sentinel's.
  int runs_in_block() const noexcept { return runs_in_block_; }
  /// True if any time of an entry in a block counts, except as the sentinel.
  bool was_in(const race_entry& entry, std::size_t block) const;
  /// Discards an entry's times in a block.
  void discard(race_entry& entry, std::size_t block);
  /// Discards an entry's times in the final round.
  void discard_final(race_entry& entry);

  /// The adjusted times, or their costs, whose median is the score; and the interval of their
  /// median in the present stage.
  const samples& adjusted(race_entry& entry) const;
  const interval& bounds(race_entry& entry) const;
  /// The interval for decisions: others are compared directly with the sentinel, whose score counts
  /// as exact.
  interval decisive_bounds(race_entry& entry) const;
  /// The median of the adjusted times; if these are missing, of an earlier stage, or of the
  /// discarded ones; NaN without times.
  run_time score(race_entry& entry) const;
  /// The same before conversion to costs.
  run_time time_of(race_entry& entry) const;

  const drift_monitor& drift() const noexcept { return drift_; }
  void settle(double jump, bool decided) noexcept { drift_.settle(jump, decided); }
  double spread() const noexcept { return spread_.value(); }
  void learn_spread(race_entry& entry) { spread_.add(samples(counted_times(entry))); }

 private:
  std::vector<run_time> adjusted_times(const race_entry& entry,
                                       bool (*counts)(const race_entry&, const race_visit&)) const;
  std::vector<run_time> counted_times(const race_entry& entry) const;
  void refresh(race_entry& entry) const;
  void begin_block();
  void judge_visit(race_entry& sentinel, drift_verdict verdict);

  race_settings settings_;
  std::deque<race_entry> entries_;  // a deque, so that references stay valid
  std::unordered_map<std::size_t, std::size_t> places_;
  std::optional<std::size_t> sentinel_;
  std::vector<race_block> blocks_;
  std::size_t level_since_ = 0;  // the first block after the last change of the level
  run_time sentinel_score_{0};
  int runs_in_block_ = 0;
  drift_monitor drift_;
  pooled_spread spread_;
};

}  // namespace detail
}  // namespace tune
