// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The pace of a search beside an application: pure values; the caller reads the clock.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

namespace tune::detail {

/// Keeps the use of a device to a share of the time: a pause follows each use. Idle time, such as
/// the compilation of a program, is partly made up later, by pauses of half the length.
class duty_cycle {
 public:
  using clock = std::chrono::steady_clock;
  /// The longest idle time that is made up for.
  static constexpr std::chrono::milliseconds credit{200};

  /// Reports a use of the device: its duration and its end.
  /// @param share  of the time, above 0, at most 1
  void used(std::chrono::nanoseconds time, clock::time_point until, double share) noexcept {
    if (until_ == clock::time_point()) paid_ = until - time;
    last_ = time;
    until_ = until;
    paid_ =
        until_ + within_bounds((std::max(paid_, until_ - time - credit) - until_) + time / share);
  }
  /// The earliest time of the next use.
  clock::time_point next(double share) const noexcept {
    const auto least = until_ + within_bounds(last_ * (0.5 / share - 1));
    return std::max({until_, least, paid_});
  }

 private:
  static std::chrono::nanoseconds within_bounds(std::chrono::duration<double, std::nano> time) {
    constexpr double longest = 60e9;
    return std::chrono::nanoseconds(static_cast<long>(std::clamp(time.count(), -longest, longest)));
  }

  std::chrono::nanoseconds last_{0};
  clock::time_point until_{};
  clock::time_point paid_{};  // the time at which the share covers all uses so far
};

/// The rate of uses of the device, as a part of the rate that the share allows: halved when the
/// application suffers, otherwise increased by an eighth of the full rate.
class back_off {
 public:
  static constexpr double least = 1.0 / 32;

  void look(bool suffers) noexcept {
    rate_ = suffers ? std::max(least, rate_ / 2) : std::min(1.0, rate_ + 0.125);
  }
  /// The factor of the pauses.
  double factor() const noexcept { return 1 / rate_; }

 private:
  double rate_ = 1;
};

/// Decides from the time of a fixed small command, run after samples, whether the device was
/// disturbed meanwhile.
class sentinel_judge {
 public:
  /// The tolerated deviation from the usual time: as a part of it, and as a multiple of the
  /// interquartile range of the latest times.
  static constexpr double tolerance = 0.25;
  static constexpr double ranges = 3;
  /// The most samples in a row that are repeated.
  static constexpr int most_repeats = 2;

  /// Returns true if the samples before the command count. @param time  in ns
  bool is_good(double time);
  /// The usual time: the median of the latest; empty with fewer than a few times.
  std::optional<double> usual() const;

 private:
  std::vector<double> sorted() const;
  void note(double time);

  static constexpr std::size_t kept = 32;
  static constexpr std::size_t enough = 8;
  std::vector<double> latest_;
  std::size_t next_ = 0;
  int repeats_ = 0;
};

}  // namespace tune::detail
