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
  repeating,  ///< the same, whose times did not count
  pausing,    ///< pauses that keep the share
  slowing,    ///< by so much they were longer for the application's sake
  held        ///< waits for the end of a behind_pause, or for an idle_window
};

/// The messages between an application and the process that tunes behind it, in memory that they
/// share. The application writes the first part, the tuner the second. Any thread may read and
/// write; nobody waits for the other to write.
struct gate_page {
  // The application:
  std::atomic<std::uint32_t> version{0};  ///< grows with each change, and ends waits for it
  std::atomic<std::uint32_t> holds{0};    ///< no step begins while it is not zero
  std::atomic<std::uint32_t> windows{0};  ///< idle windows that are open: no pause between steps
  std::atomic<std::uint32_t> windows_seen{0};        ///< opened so far
  std::atomic<std::uint32_t> share_ppm{50'000};      ///< of the device's time, in millionths
  std::atomic<std::uint32_t> slowdown_percent{100};  ///< by which pauses are longer, at least 100
  std::atomic<std::int64_t> slice_ns{1'000'000};     ///< the longest run
  std::atomic<std::int64_t> visit_ns{250'000};       ///< device time that samples of a step take
  /// The use that a preparation counts as, and a check at least; 0: what they wait for.
  std::atomic<std::int64_t> least_ns{250'000};
  quiet_moments quiet;  ///< as heartbeats tell them

  // The tuner:
  std::atomic<std::uint32_t> inside{0};                  ///< 1 while a step is under way
  std::atomic<std::uint64_t> slices{0};                  ///< steps that have ended
  std::atomic<std::uint64_t> used_ns{0};                 ///< the device time of these
  std::atomic<std::uint64_t> longest_ns{0};              ///< the same, of the longest
  std::atomic<std::uint64_t> repeated{0};                ///< those whose samples were taken again
  std::atomic<std::uint64_t> deferred{0};                ///< configurations whose runs are too long
  std::array<std::atomic<std::uint64_t>, 7> spent_ns{};  ///< by behind_part: wall-clock time

  void spend(behind_part on, std::chrono::nanoseconds time) noexcept {
    spent_ns.at(static_cast<std::size_t>(on)).fetch_add(static_cast<std::uint64_t>(time.count()));
  }
  std::chrono::nanoseconds spent(behind_part on) const noexcept {
    return std::chrono::nanoseconds(spent_ns.at(static_cast<std::size_t>(on)).load());
  }
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

/// The page of this process, made at the first call and there to the end of the process; where the
/// system gives no memory that can be shared, one of its own. Processes that are forked after that
/// have the same page, so they count as forked, and leave it alone. Thread-safe. Does not throw.
gate_page& own_gate_page() noexcept;

/// The variable by which a child finds the page of this process: "NAME=value"; empty if it cannot.
std::string gate_variable();

/// Tells those that wait at the page of a change.
void wake(gate_page& page) noexcept;
/// Waits for a change of the page, no longer than that.
/// @param seen  its version when the caller looked at it
void wait_for_change(gate_page& page, std::uint32_t seen,
                     std::chrono::nanoseconds longest) noexcept;

}  // namespace tune::detail
