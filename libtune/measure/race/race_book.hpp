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

/// The relative spread of runs of one configuration on this device now, learned from all
/// configurations together, for those that have been run once or twice. Robust: the median over all
/// deviations, so neither outliers nor some unsteady configurations move it.
class pooled_spread {
 public:
  /// @param assumed  the relative spread until there is evidence
  explicit pooled_spread(double assumed = 0.02) : value_(assumed) {}

  /// Learns from the samples of one configuration, taken close together. A single sample is
  /// ignored, and so are samples that are not valid.
  void add(const samples& of);

  /// As a part of the median, like samples::relative_spread; at least a twentieth of a per cent,
  /// since a timer that always shows the same time is coarse rather than exact.
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

/// The cost of a time of a configuration, less is better.
using race_cost = std::function<run_time(run_time)>;

/// Runs of a configuration made one after the other in one block.
struct race_visit {
  std::size_t block;
  bool final;      // of the final round
  bool discarded;  // the device moved meanwhile
  int runs;        // as many or more than there are times
  std::vector<run_time> times;
  double factor = 0;  // of a visit to the sentinel, which tells its own level;
                      // 0: that of its block

  run_time total() const;
};

/// The measurements between two visits to the sentinel.
struct race_block {
  double factor = 1;        // turns a time of it into an adjusted one
  run_time spent{0};        // device time
  bool unresolved = false;  // believed though the device moved
};

struct race_entry {
  std::size_t configuration;
  std::size_t place;
  double rank;
  race_cost cost{};  // empty: the time
  race_state state = race_state::waiting;
  int runs = 0;           // of the present stage
  run_time spent{0};      // of the present stage
  bool doubtful = false;  // was measured in a block that stayed unresolved
  std::vector<race_visit> visits{};
  // Derived from the visits, until one is added or the level of a block is corrected.
  std::optional<samples> adjusted{};
  run_time median{0};
  run_time time{0};  // their median before they became costs
  interval bounds{};
};

/// The records of a race: every time that was measured, with its block, and the sentinel's times
/// there. Times are compared after they have been adjusted to one level of the device, that of the
/// first visit to the first sentinel, and have become costs where an entry has a cost.
class race_book {
 public:
  explicit race_book(const race_settings& settings);

  race_entry& add(std::size_t configuration, double rank, race_cost cost = {});
  race_entry& at(std::size_t configuration);
  const race_entry& at(std::size_t configuration) const;
  std::deque<race_entry>& entries() noexcept { return entries_; }
  const std::deque<race_entry>& entries() const noexcept { return entries_; }

  /// Notes the times of some runs in the open block.
  void record(race_entry& entry, std::span<const run_time> times, int runs, bool final);

  /// The sentinel, by its place in entries; empty before there is one.
  std::optional<std::size_t> sentinel() const noexcept { return sentinel_; }
  /// Makes a configuration that has just converged the sentinel.
  void open(race_entry& sentinel);
  /// Makes it the sentinel by a visit just made to it, which has been recorded; disturbed if
  /// another one is needed.
  drift_verdict open(race_entry& sentinel, std::span<const run_time> times);
  /// Leaves the race without a sentinel.
  void lose_sentinel() noexcept { sentinel_.reset(); }
  /// Ends the block by a visit to the sentinel and begins the next, which is empty and waits for
  /// another visit if the device is disturbed.
  drift_verdict close(std::span<const run_time> times);

  std::size_t open_block() const noexcept { return blocks_.size() - 1; }
  const std::vector<race_block>& blocks() const noexcept { return blocks_; }
  /// The number of runs in the open block, without the sentinel's.
  int runs_in_block() const noexcept { return runs_in_block_; }
  /// True if any time of an entry in a block counts, those as sentinel excepted.
  bool was_in(const race_entry& entry, std::size_t block) const;
  /// Discards the times of an entry in a block.
  void discard(race_entry& entry, std::size_t block);
  /// Discards its times of the final round.
  void discard_final(race_entry& entry);

  /// The adjusted times, or their costs, whose median is the score; and the interval of the median
  /// of those of the present stage.
  const samples& adjusted(race_entry& entry) const;
  const interval& bounds(race_entry& entry) const;
  /// The interval for decisions: others are compared directly with the sentinel, whose score is
  /// therefore exact.
  interval decisive_bounds(race_entry& entry) const;
  /// The median of the adjusted times, of those of an earlier stage or of the discarded ones if
  /// there are no others; NaN if there are none at all.
  run_time score(race_entry& entry) const;
  /// The same before times became costs.
  run_time time_of(race_entry& entry) const;

  const drift_monitor& drift() const noexcept { return drift_; }
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
  std::deque<race_entry> entries_;  // which stay where they are
  std::unordered_map<std::size_t, std::size_t> places_;
  std::optional<std::size_t> sentinel_;
  std::vector<race_block> blocks_;
  std::size_t level_since_ = 0;  // the first block since the level last changed
  run_time sentinel_score_{0};
  int runs_in_block_ = 0;
  drift_monitor drift_;
  pooled_spread spread_;
};

}  // namespace detail
}  // namespace tune
