// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "libtune/base/cxx20.hpp"

namespace tune::detail {

/// When an application leaves the device to others, by what it tells of its work, and for how long
/// it usually does. It lies in memory that processes share; all times are of steady_clock, which
/// they share too. Thread-safe, without locks.
class quiet_moments {
 public:
  using nanoseconds = std::chrono::nanoseconds;

  /// Work has been given to the device.
  void begin(nanoseconds now) noexcept {
    if (busy_.fetch_add(1) == 0 && since_.load() != 0) learn(now.count() - since_.load());
  }
  /// Work that had begun has ended.
  void end(nanoseconds now) noexcept {
    if (busy_.fetch_sub(1) == 1) since_.store(now.count());
  }

  /// The time for which the device is likely to be left alone from now on; zero while it has work.
  nanoseconds left(nanoseconds now) const noexcept {
    if (busy_.load() != 0) return nanoseconds(0);
    const std::int64_t quiet = now.count() - since_.load();
    const std::int64_t usual = usual_.load();
    // Long past its usual end, the application rests.
    if (quiet > 4 * usual + rest.count()) return nanoseconds(usual);
    return nanoseconds(std::max<std::int64_t>(0, usual - quiet));
  }
  /// The length of a quiet moment that most reach; zero: none is known.
  nanoseconds usual() const noexcept { return nanoseconds(usual_.load()); }

 private:
  static constexpr nanoseconds rest = std::chrono::milliseconds(10);

  // Down at once and up slowly: a moment that is expected too long ends in a late frame.
  void learn(std::int64_t quiet) noexcept {
    const std::int64_t usual = usual_.load();
    usual_.store(usual == 0 || quiet < usual ? quiet : usual + (quiet - usual) / 16);
  }

  std::atomic<std::uint32_t> busy_{0};  // pieces of work under way
  std::atomic<std::int64_t> since_{0};  // the last of them has ended; 0: none has
  std::atomic<std::int64_t> usual_{0};
};

}  // namespace tune::detail
