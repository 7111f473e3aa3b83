// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Tuning behind a running application: with tuning_mode::behind an autotuner that has no result
// returns at once, with the nearest result that works here or the test default. A process behind
// the application tunes the key meanwhile, in slices of the device's time, and stores the result.
// docs/serve-now-tune-behind.md is the guide.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// A time in which the application does not use the device, such as between two observations: while
/// one lives the tuner makes no pauses, and runs what takes longer than a slice. The end of it does
/// not wait: one run of a configuration may still be under way. Thread-safe.
class [[nodiscard]] idle_window {
 public:
  idle_window() noexcept;
  ~idle_window();
  idle_window(const idle_window&) = delete;
  idle_window& operator=(const idle_window&) = delete;
};

/// While one lives the tuner does not use the device: no slice begins. Thread-safe.
class [[nodiscard]] behind_pause {
 public:
  behind_pause() noexcept;
  ~behind_pause();
  behind_pause(const behind_pause&) = delete;
  behind_pause& operator=(const behind_pause&) = delete;

  /// Waits for the end of the slice that was under way. Returns false if it has not come in time.
  bool wait(std::chrono::milliseconds longest) const;
};

/// The intervals between the beats of the application's heartbeats.
struct interval_summary {
  std::uint64_t count = 0;              ///< how many there were
  std::chrono::nanoseconds longest{0};  ///< the longest
  std::chrono::nanoseconds p999{0};     ///< 999 of 1000 are no longer, within 3 %
};

/// The time of the tuner so far, while keys were tuned.
struct behind_times {
  std::chrono::nanoseconds preparing{0};  ///< memory and programs of configurations
  std::chrono::nanoseconds checking{0};   ///< first runs, with their checks
  std::chrono::nanoseconds measuring{0};  ///< runs that are timed
  std::chrono::nanoseconds repeating{0};  ///< the same, whose times did not count
  std::chrono::nanoseconds pausing{0};    ///< pauses that keep the share
  std::chrono::nanoseconds slowing{0};    ///< by so much they were longer for late frames
  std::chrono::nanoseconds held{0};       ///< by a behind_pause, or until an idle_window
  std::chrono::nanoseconds other{0};      ///< programs that were waited for, and the host's work
};

/// "pauses for the share 9.10 s, measuring 1.20 s, ...", the longest first, for people.
std::string to_string(const behind_times& times);

/// The work of the tuner behind this application so far.
struct behind_summary {
  std::size_t waiting = 0;  ///< keys that are to be tuned
  std::string current{};    ///< the one that is being tuned; empty: none is
  std::size_t tuned = 0;    ///< keys that have a result now
  std::size_t failed = 0;   ///< keys that were given up
  /// The last failure: of the key that was given up, or whose result could not be stored.
  std::string failure{};
  std::chrono::nanoseconds used{0};           ///< the device time of its slices
  std::uint64_t slices = 0;                   ///< their number
  std::chrono::nanoseconds longest_slice{0};  ///< the longest of them
  std::uint64_t repeated = 0;  ///< slices that were measured again, for the device was disturbed
  std::uint64_t deferred = 0;  ///< configurations whose runs are too long for a slice
  double slowdown = 1;         ///< by which its pauses are longer for the application's sake
  behind_times spent{};        ///< where its time went
  interval_summary alone{};    ///< of the heartbeats, while no slice was under way
  interval_summary beside{};   ///< while one was
};

/// Returns what the tuner behind this application has done. Thread-safe.
behind_summary behind_report();

/// Waits until no key is left to be tuned behind this application. Returns false if there still
/// are some after that time.
bool wait_for_tuning_behind(std::chrono::milliseconds longest);

}  // namespace tune
