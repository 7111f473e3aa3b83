// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "libtune/measure/timing/samples.hpp"

namespace tune::detail {

/// The relative jump of the device's speed that runs of one configuration show: 0.3 if some take
/// 30 % longer than the fastest, and both kinds, or more, have at least two runs that agree; zero
/// if there is only one kind. A factor above two is a lost time slice rather than a jump.
double jump_within(std::span<const run_time> times);
/// The same if only the last of consecutive runs was slower. The first one may be slower on any
/// device, and is no evidence.
/// @param spread  the relative spread of runs
double jump_at_end(std::span<const run_time> times, double spread);

/// Decides if a device's clock jumps so often that a block between two visits to the sentinel may
/// contain unnoticed jumps: by the part of the blocks, and of the configurations' own runs, in
/// which a jump was seen.
class jump_watch {
 public:
  /// Adds a block. @param movement  relative, zero if it was steady
  void add_block(double movement) noexcept;
  /// Adds consecutive runs of one configuration.
  void add_runs(std::span<const run_time> times, double spread);

  bool is_jumping() const noexcept;
  /// True if enough was seen for a decision before the end of the screening.
  bool is_certain() const noexcept { return is_jumping() && moved_ + far_ + kinds_ >= enough; }
  /// The largest relative jump so far.
  double largest() const noexcept { return largest_; }

 private:
  static constexpr double enough = 6;

  void note(double jump) noexcept;

  double blocks_ = 0;
  double moved_ = 0;  // of these, those with a jump
  double far_ = 0;    // those with a movement that is too large for a clock
  double looks_ = 0;  // at runs of one configuration, each for a part of a block
  double kinds_ = 0;  // of these, those with two kinds of runs
  double largest_ = 0;
};

}  // namespace tune::detail
