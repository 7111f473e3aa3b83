// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>

#include "libtune/measure/samples.hpp"

namespace tune {

/// What was seen of the speed of a device while it was measured on.
struct drift_report {
  int blocks = 0;      ///< of measurements between two visits to the sentinel
  int moved = 0;       ///< of them, those during which the device became faster or slower
  int unsettled = 0;   ///< of those, the ones that were not measured again, for it did not end
  double largest = 0;  ///< the largest movement within one block, as a part: 0.08 is 8 %
  double range = 0;    ///< between the fastest and the slowest visit

  /// Whether all that moved was measured again.
  bool settled() const noexcept { return unsettled == 0; }
};

/// One sentence for people; empty if nothing moved.
std::string drift_text(const drift_report& report);

enum class drift_verdict : std::uint8_t {
  steady,
  moved,     ///< what was measured in the block has to be measured again
  unsettled  ///< it moved once more; the block has to be believed as it is
};

struct drift_settings {
  double threshold = 0.02;  ///< what a device may move within a block, as a part
  int runs = 4;             ///< of the sentinel, in one visit, where runs differ by 1 % or less
  int repeats = 3;          ///< how many blocks in a row may be measured again
};

/// Notices that a device becomes faster or slower (clocks, throttling, other users) by a
/// configuration, the sentinel, that is measured again and again: before and after each block of
/// other measurements. Fed with numbers only.
///
///   drift_monitor drift(settings);
///   drift.open(times of the sentinel);
///   ... measure others ...
///   drift.close(times of the sentinel, spread);   // and the next block is open
class drift_monitor {
 public:
  /// @throws argument_error if a setting is not positive (repeats: negative)
  explicit drift_monitor(const drift_settings& settings = {});

  /// How often to run the sentinel in one visit, if runs have this relative spread: more often
  /// where it is large, up to three times as often.
  int runs(double spread) const noexcept;
  /// What can move within a block and pass for steady, as a part: the threshold, and what two
  /// visits may differ by chance.
  double tolerance(double spread) const noexcept;

  /// Begins a block, with another sentinel or after a pause. sentinel is valid.
  void open(const samples& sentinel);
  /// Ends a block and begins the next. sentinel is valid.
  drift_verdict close(const samples& sentinel, double spread);

  /// What the sentinel takes in the open block; after close, in the next.
  run_time before() const noexcept { return before_; }
  /// What it took in the block that has been closed last: the geometric mean of before and after.
  run_time level() const noexcept { return level_; }
  /// By how much that block moved, as a part.
  double movement() const noexcept { return movement_; }

  const drift_report& report() const noexcept { return report_; }

 private:
  void note(run_time visit);

  drift_settings settings_;
  run_time before_{0};
  run_time level_{0};
  double movement_ = 0;
  int moved_in_a_row_ = 0;
  double fastest_ = 0;  // relative to the sentinel's first visit, over all sentinels
  double slowest_ = 0;
  double offset_ = 0;
  run_time opened_{0};
  drift_report report_;
};

}  // namespace tune
