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
  int blocks = 0;      ///< of measurements between two visits to the sentinel
  int moved = 0;       ///< of them, those during which the device became faster or slower
  int disturbed = 0;   ///< of those, the ones after which the device was far slower than before
  int unresolved = 0;  ///< of those that moved, those not measured again because it did not end
  double largest = 0;  ///< the largest movement within one block, as a part: 0.08 is 8 %
  double range = 0;    ///< between the fastest and the slowest visit

  /// True if all blocks that moved were measured again.
  bool resolved() const noexcept { return unresolved == 0; }
};

/// A sentence for users; empty if nothing moved.
std::string drift_text(const drift_report& report);

enum class drift_verdict : std::uint8_t {
  steady,
  moved,      ///< the block has to be measured again
  disturbed,  ///< the same, and the device is too slow now to measure: visit it once more
  unresolved  ///< it moved once more; the block has to be believed as it is
};

/// The time of one visit to the sentinel: the median of those of its runs that lost no time slice,
/// which are the fastest and all near it. Slow runs do not move it.
run_time visit_time(const samples& visit, double spread);

/// Detects that a device becomes faster or slower (clocks, throttling, other users) by a
/// configuration, the sentinel, that is measured again and again: before and after each block of
/// other measurements. Fed with numbers only.
///
///   drift_monitor drift(settings);
///   drift.open(times of the sentinel, spread, its score);
///   ... measure others ...
///   drift.close(times of the sentinel, spread);   // and the next block is open
///
/// A level is a multiple of the sentinel's time when it was scored: 1.1 is 10 % slower. The
/// reference is the level of the device when no other program uses it: it follows slow changes, and
/// all faster visits. If a visit is slower than that by more than drift_settings::largest, the
/// device is disturbed; if it stays so for longer than the patience, that becomes the reference.
class drift_monitor {
 public:
  /// @throws argument_error if a setting is not positive (repeats, patience: negative)
  explicit drift_monitor(const drift_settings& settings = {});

  /// The number of runs of the sentinel in one visit, given the relative spread of runs: up to
  /// three times as many where it is large.
  int runs(double spread) const noexcept;
  /// The change within a block that passes for steady, as a part: the threshold, and the difference
  /// of two visits by chance.
  double tolerance(double spread) const noexcept;

  /// Begins a block, with another sentinel or after a pause. sentinel is valid.
  /// @param score  its time at level 1
  /// @return steady, or disturbed
  drift_verdict open(const samples& sentinel, double spread, run_time score);
  /// Ends a block and begins the next, unless the device is disturbed. sentinel is valid.
  drift_verdict close(const samples& sentinel, double spread);
  /// Adds device time that was not spent on waiting; as much may be spent on that.
  void spend(run_time time) noexcept { spent_ += time; }

  /// The level of the open block; after close, of the next.
  double before() const noexcept { return before_; }
  /// The level of the block that has been closed last: the geometric mean of before and after.
  double level() const noexcept { return level_; }
  /// True if that is a new estimate of the level of all blocks since the sentinel was opened or the
  /// device last moved, since single visits are too uncertain to show a change between two.
  bool is_one_level() const noexcept { return is_one_level_; }
  /// True if the device has moved since the block before.
  bool has_jumped() const noexcept { return has_jumped_; }
  /// The movement of that block, as a part.
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
  bool may_wait(run_time visit);
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
  int alike_ = 0;      // visits that smooth_ is the mean of
  double smooth_ = 0;  // the same, of the latest visits, by their certainty
  bool has_calmed_ = false;
  int moved_in_a_row_ = 0;
  int given_up_ = 0;  // how often a disturbed device was believed
  run_time waited_{0};
  run_time waited_in_all_{0};
  run_time spent_{0};
  double fastest_ = 0;  // logarithms of levels
  double slowest_ = 0;
  drift_report report_;
};

}  // namespace tune
