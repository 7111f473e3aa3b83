// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "libtune/measure/race/pooled_spread.hpp"
#include "libtune/measure/timing/confidence_interval.hpp"
#include "libtune/measure/timing/drift_monitor.hpp"
#include "libtune/measure/timing/measure_settings.hpp"
#include "libtune/measure/timing/samples.hpp"

namespace tune {

/// How far a configuration has come in a race.
enum class race_state : std::uint8_t {
  waiting,  ///< has arrived, or has to be measured again
  running,
  dropped,   ///< cannot win
  settled,   ///< has its score of the screening
  finalist,  ///< is in the play-off
  beaten,    ///< was in the play-off, and cannot win
  failed
};

namespace detail {

/// Runs of a configuration made one after the other in one block.
struct race_visit {
  std::size_t block;
  bool final;      // of the play-off
  bool discarded;  // the device moved meanwhile
  int runs;        // as many or more than there are times
  std::vector<run_time> times;
  double factor = 0;  // of a visit to the sentinel, which tells its own level;
                      // 0: that of its block

  run_time total() const;
};

/// What was measured between two visits to the sentinel.
struct race_block {
  double factor = 1;       // what turns a time of it into an adjusted one
  run_time spent{0};       // device time
  bool unsettled = false;  // believed though the device moved
};

struct race_entry {
  std::size_t configuration;
  std::size_t place;
  double rank;
  race_state state = race_state::waiting;
  int runs = 0;           // of the present stage
  run_time spent{0};      // of the present stage
  bool doubtful = false;  // was measured in a block that could not be settled
  std::vector<race_visit> visits{};
  // What the visits say, until one is added or the level of a block is corrected.
  std::optional<samples> adjusted{};
  run_time median{0};
  interval bounds{};
};

/// What a race knows: every time that was measured, in which block, and what the sentinel took
/// there. Times are compared after they have been adjusted to one level of the device, that of the
/// first visit to the first sentinel.
class race_book {
 public:
  explicit race_book(const race_settings& settings);

  race_entry& add(std::size_t configuration, double rank);
  race_entry& at(std::size_t configuration);
  const race_entry& at(std::size_t configuration) const;
  std::deque<race_entry>& entries() noexcept { return entries_; }
  const std::deque<race_entry>& entries() const noexcept { return entries_; }

  /// Notes the times of so many runs in the open block.
  void record(race_entry& entry, std::span<const run_time> times, int runs, bool final);

  /// The sentinel, by its place in entries; empty before there is one.
  std::optional<std::size_t> sentinel() const noexcept { return sentinel_; }
  /// Makes a configuration that has just been settled the sentinel.
  void open(race_entry& sentinel);
  /// The same by a visit just made to it, which has been recorded; disturbed if another one is
  /// needed.
  drift_verdict open(race_entry& sentinel, std::span<const run_time> times);
  /// Nobody is the sentinel any more.
  void lose_sentinel() noexcept { sentinel_.reset(); }
  /// Ends the block by a visit to the sentinel and begins the next, which is empty and waits for
  /// another visit if the device is disturbed.
  drift_verdict close(std::span<const run_time> times);

  std::size_t open_block() const noexcept { return blocks_.size() - 1; }
  const std::vector<race_block>& blocks() const noexcept { return blocks_; }
  /// How many runs the open block has, the sentinel's not counted.
  int runs_in_block() const noexcept { return runs_in_block_; }
  /// Whether anything counts that an entry was measured in a block, by itself.
  bool was_in(const race_entry& entry, std::size_t block) const;
  /// Forgets what an entry was measured in a block.
  void discard(race_entry& entry, std::size_t block);
  /// Forgets what it was measured in the play-off.
  void discard_final(race_entry& entry);

  /// The times that score speaks of; and the interval of the median of those of the present stage.
  const samples& adjusted(race_entry& entry) const;
  const interval& bounds(race_entry& entry) const;
  /// The same for decisions: with the sentinel others are compared directly, so that its score is
  /// exact.
  interval decisive_bounds(race_entry& entry) const;
  /// The median of the adjusted times, of those of an earlier stage or of what was discarded if
  /// there are no others; NaN if there are none at all.
  run_time score(race_entry& entry) const;

  const drift_monitor& drift() const noexcept { return drift_; }
  double spread() const noexcept { return spread_.value(); }
  void learn_spread(race_entry& entry) { spread_.add(adjusted(entry)); }

 private:
  std::vector<run_time> adjusted_times(const race_entry& entry,
                                       bool (*counts)(const race_entry&, const race_visit&)) const;
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
