// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The pace of a search beside an application: pure values, for which the caller reads the clock.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

namespace tune::detail {

/// Keeps the use of a device to a share of the time: a pause follows each use.
class duty_cycle {
 public:
  using clock = std::chrono::steady_clock;

  /// The device has been used for so long, until then.
  void used(std::chrono::nanoseconds time, clock::time_point until) noexcept {
    last_ = time;
    until_ = until;
  }
  /// The moment from which it may be used again.
  /// @param share     of the time, above 0, at most 1
  /// @param slowdown  the factor by which pauses are longer, at least 1
  clock::time_point next(double share, double slowdown = 1) const noexcept {
    const double pause = static_cast<double>(last_.count()) * (1 / share - 1) * slowdown;
    constexpr double longest = 60e9;
    return until_ + std::chrono::nanoseconds(static_cast<long>(std::clamp(pause, 0.0, longest)));
  }

 private:
  std::chrono::nanoseconds last_{0};
  clock::time_point until_{};
};

/// The factor by which pauses are longer because the application suffers: doubled when it does,
/// and less by a tenth when it does not.
class back_off {
 public:
  static constexpr double most = 64;

  void look(bool suffers) noexcept {
    factor_ = suffers ? std::min(most, factor_ * 2) : std::max(1.0, factor_ * 0.9);
  }
  double factor() const noexcept { return factor_; }

 private:
  double factor_ = 1;
};

/// Decides from the time of a fixed small command, run before and after samples, whether the
/// device was disturbed meanwhile.
class sentinel_judge {
 public:
  /// The deviation from its usual time that is no disturbance, as a part of that.
  static constexpr double tolerance = 0.25;
  /// So many samples in a row are taken again at most.
  static constexpr int most_repeats = 3;

  /// Returns true if the samples between these two count, in ns.
  bool is_good(double before, double after);
  /// The usual time: that of the faster quarter of the latest; empty before there are a few.
  std::optional<double> usual() const;

 private:
  void note(double time);

  static constexpr std::size_t kept = 32;
  std::vector<double> latest_;
  std::size_t next_ = 0;
  int repeats_ = 0;
};

}  // namespace tune::detail
