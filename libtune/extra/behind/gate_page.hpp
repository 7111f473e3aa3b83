// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "libtune/base/cxx20.hpp"
#include "libtune/extra/behind/quiet_moments.hpp"

namespace tune::detail {

/// The parts of the tuner's time.
enum class behind_part : std::uint8_t {
  preparing,  ///< memory and programs of a configuration
  checking,   ///< first runs, with their checks
  measuring,  ///< runs that are timed
  repeating,  ///< timed runs that did not count
  pausing,    ///< pauses that keep the share
  slowing,    ///< the extension of pauses for the application's sake
  held        ///< waits for the end of a behind_pause, or for an idle_window
};

/// The shared memory between an application and the process that tunes behind it. The application
/// writes the first part, the tuner the second. Any thread may read and write, without waiting.
struct gate_page {
  // The application:
  std::atomic<std::uint32_t> version{0};       ///< grows with each change, which ends waits for it
  std::atomic<std::uint32_t> holds{0};         ///< no step begins while it is not zero
  std::atomic<std::uint32_t> windows{0};       ///< open idle windows: no pause between steps
  std::atomic<std::uint32_t> windows_seen{0};  ///< windows opened so far
  /// The tuner's part of the device's time, in millionths.
  std::atomic<std::uint32_t> share_ppm{50'000};
  std::atomic<std::uint32_t> slowdown_percent{100};  ///< the factor of the pauses, at least 100
  std::atomic<std::int64_t> slice_ns{1'000'000};     ///< the longest run
  std::atomic<std::int64_t> visit_ns{250'000};       ///< the device time of the samples of a step
  /// The device time charged for a preparation, and the least for a check; 0: their waiting time.
  std::atomic<std::int64_t> least_ns{250'000};
  quiet_moments quiet;  ///< reported by heartbeats

  // The tuner:
  std::atomic<std::uint32_t> inside{0};                  ///< 1 while a step is under way
  std::atomic<std::uint64_t> slices{0};                  ///< completed steps
  std::atomic<std::uint64_t> used_ns{0};                 ///< the device time of all slices
  std::atomic<std::uint64_t> longest_ns{0};              ///< the device time of the longest slice
  std::atomic<std::uint64_t> repeated{0};                ///< slices whose samples were repeated
  std::atomic<std::uint64_t> deferred{0};                ///< configurations with too long runs
  std::array<std::atomic<std::uint64_t>, 7> spent_ns{};  ///< wall-clock time, by behind_part

  void spend(behind_part on, std::chrono::nanoseconds time) noexcept {
    spent_ns.at(static_cast<std::size_t>(on)).fetch_add(static_cast<std::uint64_t>(time.count()));
  }
  std::chrono::nanoseconds spent(behind_part on) const noexcept {
    return std::chrono::nanoseconds(spent_ns.at(static_cast<std::size_t>(on)).load());
  }
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

/// The page of this process, made at the first call and kept to the end of the process; if the
/// system gives no shared memory, in private memory. Processes that are forked later have the same
/// page, so they count as forked and do not use it. Thread-safe. Does not throw.
gate_page& own_gate_page() noexcept;

/// The variable that gives a child the page of this process: "NAME=value"; empty if that is
/// impossible.
std::string gate_variable();

/// Wakes the threads that wait at the page.
void wake(gate_page& page) noexcept;
/// Waits for a change of the page, at most for the given time.
/// @param seen  its version at the caller's last check
void wait_for_change(gate_page& page, std::uint32_t seen,
                     std::chrono::nanoseconds longest) noexcept;

}  // namespace tune::detail
