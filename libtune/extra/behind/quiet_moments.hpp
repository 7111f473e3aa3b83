// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "libtune/base/cxx20.hpp"

namespace tune::detail {

/// The gaps in which an application leaves the device free, by its reports, and their usual length.
/// It lies in memory that processes share; all times are of steady_clock, which they share too.
/// Thread-safe, without locks.
class quiet_moments {
 public:
  using nanoseconds = std::chrono::nanoseconds;

  /// Marks the start of work on the device.
  void begin(nanoseconds now) noexcept {
    if (busy_.fetch_add(1) == 0 && since_.load() != 0) learn(now.count() - since_.load());
  }
  /// Marks the end of work that had begun.
  void end(nanoseconds now) noexcept {
    if (busy_.fetch_sub(1) == 1) since_.store(now.count());
  }

  /// The expected rest of the present gap; zero while the device has work.
  nanoseconds left(nanoseconds now) const noexcept {
    if (busy_.load() != 0) return nanoseconds(0);
    const std::int64_t quiet = now.count() - since_.load();
    const std::int64_t usual = usual_.load();
    // A gap far beyond the usual length is a rest of the application.
    if (quiet > 4 * usual + rest.count()) return nanoseconds(usual);
    return nanoseconds(std::max<std::int64_t>(0, usual - quiet));
  }
  /// The length that most gaps reach; zero if unknown.
  nanoseconds usual() const noexcept { return nanoseconds(usual_.load()); }

 private:
  static constexpr nanoseconds rest = std::chrono::milliseconds(10);

  // Down at once and up slowly, because a gap that is estimated too long causes a late frame.
  void learn(std::int64_t quiet) noexcept {
    const std::int64_t usual = usual_.load();
    usual_.store(usual == 0 || quiet < usual ? quiet : usual + (quiet - usual) / 16);
  }

  std::atomic<std::uint32_t> busy_{0};  // pieces of work under way
  std::atomic<std::int64_t> since_{0};  // the end of the last of them; 0: none has ended
  std::atomic<std::int64_t> usual_{0};
};

}  // namespace tune::detail
