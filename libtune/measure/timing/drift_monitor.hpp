// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "libtune/measure/timing/samples.hpp"
#include "libtune/measure/timing/settings.hpp"

namespace tune {

/// The changes of a device's speed during measurements.
struct drift_report {
  int blocks = 0;      ///< blocks of measurements between two visits to the sentinel
  int moved = 0;       ///< blocks during which the device became faster or slower
  int disturbed = 0;   ///< of those, the ones after which the device was far slower than before
  int unresolved = 0;  ///< of those that moved, the ones that were not measured again because the
                       ///< changes did not end
  double largest = 0;  ///< the largest relative movement within one block: 0.08 is 8 %
  double range = 0;    ///< between the fastest and the slowest visit
  /// The speed jumped so often that the best configurations were compared in turns of a random
  /// order. Only an undecided comparison is unresolved then, and counts as one block.
  bool jumping = false;

  /// True if all blocks that moved were measured again.
  bool resolved() const noexcept { return unresolved == 0; }
};

/// A sentence for users; empty if the device was steady.
std::string drift_text(const drift_report& report);

enum class drift_verdict : std::uint8_t {
  steady,
  moved,      ///< the block has to be measured again
  disturbed,  ///< the same, and the device is now too slow to measure: visit the sentinel again
  unresolved  ///< it moved again; the block has to be used unchanged
};

/// The time of one visit to the sentinel: the median of its runs without a lost time slice, which
/// are the fastest one and those near it. Slow runs do not affect it.
run_time visit_time(const samples& visit, double spread);

/// Detects that a device becomes faster or slower (clocks, throttling, other users) by one
/// configuration, the sentinel, that is measured repeatedly: before and after each block of other
/// measurements. It has neither clock nor device.
///
///   drift_monitor drift(settings);
///   drift.open(times of the sentinel, spread, its score);
///   ... measure others ...
///   drift.close(times of the sentinel, spread);   // and the next block is open
///
/// A level is a multiple of the sentinel's time when it was scored: 1.1 is 10 % slower. The
/// reference is the level of the device without other programs: it follows slow changes, and all
/// faster visits. If a visit is slower than the reference by more than drift_settings::largest, the
/// device is disturbed; after the patience, that level becomes the reference.
class drift_monitor {
 public:
  /// @throws argument_error if a setting is not positive (repeats, patience: negative)
  explicit drift_monitor(const drift_settings& settings = {});

  /// The number of runs of the sentinel in one visit, given the relative spread of runs: up to
  /// three times as many for a large spread.
  int runs(double spread) const noexcept;
  /// The relative change within a block that counts as steady: the threshold plus the random
  /// difference of two visits.
  double tolerance(double spread) const noexcept;

  /// Begins a block, with another sentinel or after a pause. The samples are valid.
  /// @param score  its time at level 1
  /// @return steady, or disturbed
  drift_verdict open(const samples& sentinel, double spread, run_time score);
  /// Ends a block and begins the next, unless the device is disturbed. The samples are valid.
  drift_verdict close(const samples& sentinel, double spread);
  /// Adds device time other than waiting, and the number of its runs. Waiting may take as much
  /// time, and three times as many runs, beyond the patience and some hundred runs.
  void spend(run_time time, int runs = 1) noexcept;
  /// Reports that the device jumps, by how much, and if the comparison in turns was decided.
  void settle(double jump, bool decided) noexcept;

  /// The level of the open block; after close, of the next one.
  double before() const noexcept { return before_; }
  /// The level of the last closed block: the geometric mean of the levels before and after it.
  double level() const noexcept { return level_; }
  /// True if level() is a new estimate for all blocks since the sentinel was opened or the device
  /// last moved, because single visits are too uncertain to show a change between two.
  bool is_one_level() const noexcept { return is_one_level_; }
  /// True if the device has moved since the previous block.
  bool has_jumped() const noexcept { return has_jumped_; }
  /// The relative movement of the last closed block.
  double movement() const noexcept { return movement_; }
  /// The level of the latest visit.
  double now() const noexcept { return now_; }
  /// True if measurements at a level were made on a disturbed device.
  bool is_disturbed(double level, double spread) const noexcept;
  /// True if the latest visit shows that the device was disturbed from the start: the reference has
  /// become much faster.
  bool has_calmed() const noexcept { return has_calmed_; }

  const drift_report& report() const noexcept { return report_; }

 private:
  bool has_to_wait(const samples& visit, double spread);
  bool may_wait(const samples& visit);
  double smoothed_level(double spread);
  double follow_part(double spread) const;
  void follow(double spread);
  void note();

  drift_settings settings_;
  run_time score_{0};
  double before_ = 1;
  double level_ = 1;
  double now_ = 1;
  double movement_ = 0;
  double reference_ = 0;  // the logarithm of a level
  bool is_one_level_ = false;
  bool has_jumped_ = false;
  int alike_ = 0;      // the number of visits in smooth_
  double smooth_ = 0;  // the weighted mean of the latest visits, a logarithm too
  bool has_calmed_ = false;
  int moved_in_a_row_ = 0;
  int given_up_ = 0;  // tolerated disturbances
  run_time waited_{0};
  run_time waited_in_all_{0};
  run_time spent_{0};
  double waited_runs_ = 0;
  double spent_runs_ = 0;
  double fastest_ = 0;  // logarithms of levels
  double slowest_ = 0;
  drift_report report_;
};

}  // namespace tune
