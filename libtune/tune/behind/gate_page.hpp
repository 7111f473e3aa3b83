// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "libtune/base/cxx20.hpp"

namespace tune::detail {

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
  std::atomic<std::int64_t> slice_ns{1'000'000};     ///< the longest step, or run

  // The tuner:
  std::atomic<std::uint32_t> inside{0};      ///< 1 while a step is under way
  std::atomic<std::uint64_t> slices{0};      ///< steps that have ended
  std::atomic<std::uint64_t> used_ns{0};     ///< their time
  std::atomic<std::uint64_t> longest_ns{0};  ///< the longest of them
  std::atomic<std::uint64_t> repeated{0};    ///< those whose samples were taken again
  std::atomic<std::uint64_t> deferred{0};    ///< configurations whose runs are too long
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

/// The page of this process, made at the first call and there to the end of the process; where the
/// system gives no memory that can be shared, one of its own. Thread-safe. Does not throw.
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
