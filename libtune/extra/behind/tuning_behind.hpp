// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Tuning behind a running application: with tuning_mode::behind an autotuner without a result
// returns at once, with the nearest result that works on the device or the test default. A process
// behind the application tunes the key meanwhile, in slices of the device's time, and stores the
// result. docs/serve-now-tune-behind.md is the guide.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// A time in which the application does not use the device, such as between two observations.
/// During its life the tuner makes no pauses, and runs configurations that take longer than a
/// slice. Its end does not wait: one run of a configuration may still be under way. Thread-safe.
class [[nodiscard]] idle_window {
 public:
  idle_window() noexcept;
  ~idle_window();
  idle_window(const idle_window&) = delete;
  idle_window& operator=(const idle_window&) = delete;
};

/// A pause of the tuner: during its life no slice begins. Thread-safe.
class [[nodiscard]] behind_pause {
 public:
  behind_pause() noexcept;
  ~behind_pause();
  behind_pause(const behind_pause&) = delete;
  behind_pause& operator=(const behind_pause&) = delete;

  /// Waits for the end of the slice that was under way. Returns false after the given time.
  bool wait(std::chrono::milliseconds longest) const;
};

/// The intervals between the beats of the application's heartbeats.
struct interval_summary {
  std::uint64_t count = 0;              ///< their number
  std::chrono::nanoseconds longest{0};  ///< the longest
  std::chrono::nanoseconds p999{0};     ///< 999 of 1000 are at most this long, within 3 %
};

/// The time of the tuner so far, while keys were tuned.
struct behind_times {
  std::chrono::nanoseconds preparing{0};  ///< memory and programs of configurations
  std::chrono::nanoseconds checking{0};   ///< first runs, with their checks
  std::chrono::nanoseconds measuring{0};  ///< runs that are timed
  std::chrono::nanoseconds repeating{0};  ///< timed runs that did not count
  std::chrono::nanoseconds pausing{0};    ///< pauses that keep the share
  std::chrono::nanoseconds slowing{0};    ///< the extension of pauses for late frames
  std::chrono::nanoseconds held{0};       ///< time in a behind_pause, or waiting for an idle_window
  std::chrono::nanoseconds other{0};      ///< waits for programs, and work of the host
};

/// The times in words: "pauses for the share 9.10 s, measuring 1.20 s, ...", the longest first.
std::string to_string(const behind_times& times);

/// The work of the tuner behind this application since its start.
struct behind_summary {
  std::size_t waiting = 0;  ///< keys still to be tuned
  std::string current{};    ///< the key being tuned; empty without one
  std::size_t tuned = 0;    ///< keys that have a result now
  std::size_t failed = 0;   ///< keys without a result after an error
  /// The last failure: of a key that was given up, or of storing a result.
  std::string failure{};
  std::chrono::nanoseconds used{0};           ///< the device time of its slices
  std::uint64_t slices = 0;                   ///< their number so far
  std::chrono::nanoseconds longest_slice{0};  ///< the longest of them
  std::uint64_t repeated = 0;  ///< slices measured again after a disturbance of the device
  std::uint64_t deferred = 0;  ///< configurations whose runs are too long for a slice
  double slowdown = 1;         ///< the factor of its pauses for the application's sake
  behind_times spent{};        ///< the parts of its time
  interval_summary alone{};    ///< intervals of the heartbeats without a slice under way
  interval_summary beside{};   ///< intervals with a slice under way
};

/// Returns the work of the tuner behind this application. Thread-safe.
behind_summary behind_report();

/// Waits until no key is left to be tuned behind this application. Returns false if keys are left
/// after that time.
bool wait_for_tuning_behind(std::chrono::milliseconds longest);

}  // namespace tune
