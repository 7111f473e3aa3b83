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

/// Keeps the use of a device to a share of the time: a pause follows each use. Of a time in which
/// it had nothing to do, while a program was compiled, it makes up for a little later on, by pauses
/// that are half as long.
class duty_cycle {
 public:
  using clock = std::chrono::steady_clock;
  /// The longest time without a use that is made up for.
  static constexpr std::chrono::milliseconds credit{200};

  /// The device has been used for so long, until then.
  /// @param share  of the time, above 0, at most 1
  void used(std::chrono::nanoseconds time, clock::time_point until, double share) noexcept {
    if (until_ == clock::time_point()) paid_ = until - time;
    last_ = time;
    until_ = until;
    paid_ =
        until_ + within_bounds((std::max(paid_, until_ - time - credit) - until_) + time / share);
  }
  /// The moment from which it may be used again.
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
  clock::time_point paid_{};  // when the share of the time makes all that has been used
};

/// The rate of uses of the device, as a part of what the share allows: halved when the application
/// suffers, and more by an eighth of the whole when it does not.
class back_off {
 public:
  static constexpr double least = 1.0 / 32;

  void look(bool suffers) noexcept {
    rate_ = suffers ? std::max(least, rate_ / 2) : std::min(1.0, rate_ + 0.125);
  }
  /// The factor by which pauses are longer.
  double factor() const noexcept { return 1 / rate_; }

 private:
  double rate_ = 1;
};

/// Decides from the time of a fixed small command, run after samples, whether the device was
/// disturbed meanwhile.
class sentinel_judge {
 public:
  /// The deviation from its usual time that is no disturbance: as a part of that, and as a multiple
  /// of the range of half of the latest times.
  static constexpr double tolerance = 0.25;
  static constexpr double ranges = 3;
  /// So many samples in a row are taken again at most.
  static constexpr int most_repeats = 2;

  /// Returns true if the samples before it count. @param time  in ns
  bool is_good(double time);
  /// The usual time: the median of the latest; empty before there are a few.
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
