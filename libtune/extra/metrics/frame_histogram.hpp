// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "libtune/base/cxx20.hpp"

namespace tune {

namespace detail {

/// The classes of a frame_histogram: a width of 1 ns below 128 ns, then 128 classes in each octave,
/// up to 73 min.
class frame_classes {
 public:
  static constexpr unsigned part_bits = 7;
  static constexpr std::uint64_t parts = std::uint64_t{1} << part_bits;
  static constexpr unsigned end_bits = 42;
  static constexpr std::size_t count = (end_bits - part_bits + 1) * parts;

  static constexpr std::size_t of(std::uint64_t ns) noexcept {
    if (ns < parts) return ns;
    const auto octave = static_cast<unsigned>(std::bit_width(ns)) - 1;
    if (octave >= end_bits) return count - 1;
    const unsigned shift = octave - part_bits;
    return (shift + 1) * parts + ((ns >> shift) & (parts - 1));
  }
  /// The greatest length in a class, in ns.
  static constexpr std::uint64_t end(std::size_t of) noexcept {
    if (of < parts) return of;
    const std::size_t shift = of / parts - 1;
    return ((parts + of % parts + 1) << shift) - 1;
  }
};

}  // namespace detail

/// The times of frames at one moment: the content of a frame_histogram as a value.
class frame_distribution {
 public:
  /// No frames.
  frame_distribution() = default;

  /// The number of frames.
  std::uint64_t count() const noexcept { return count_; }
  /// The sum of all times.
  std::chrono::nanoseconds sum() const noexcept { return sum_; }
  /// The longest time, exactly; after since() within the error of a quantile.
  std::chrono::nanoseconds longest() const noexcept { return longest_; }
  /// The least time that at least this part of the frames did not exceed: never less than the exact
  /// one, and at most 0.8 % (1/128) more, for times up to 73 min. Zero without frames.
  /// @param part  from 0 to 1: 0.99 is the time within which 99 of 100 frames ended
  std::chrono::nanoseconds quantile(double part) const noexcept;
  /// The frames since an earlier moment of the same histogram. Without a reset in between.
  frame_distribution since(const frame_distribution& earlier) const;
  /// Adds the frames of another.
  void merge(const frame_distribution& other);

 private:
  friend class frame_histogram;

  std::vector<std::uint64_t> counts_{};  // of each class; empty without frames
  std::uint64_t count_ = 0;
  std::chrono::nanoseconds sum_{0};
  std::chrono::nanoseconds longest_{0};
};

/// Counts the times of frames in classes of at most 0.8 % of their length (1/128), as an HDR
/// histogram does. Any number of threads may record and read at the same time; record() takes no
/// lock, allocates nothing and makes no system call. 37 KB.
class frame_histogram {
 public:
  frame_histogram() = default;
  frame_histogram(const frame_histogram&) = delete;
  frame_histogram& operator=(const frame_histogram&) = delete;

  /// Counts a frame. A negative time counts as zero.
  void record(std::chrono::nanoseconds time) noexcept {
    const auto ns = static_cast<std::uint64_t>(time.count() < 0 ? 0 : time.count());
    counts_[detail::frame_classes::of(ns)].fetch_add(1, std::memory_order_relaxed);
    sum_.fetch_add(ns, std::memory_order_relaxed);
    note_longest(ns);
  }

  /// The number of frames.
  std::uint64_t count() const noexcept;
  /// The longest time, exactly.
  std::chrono::nanoseconds longest() const noexcept {
    return std::chrono::nanoseconds(longest_.load(std::memory_order_relaxed));
  }
  /// See frame_distribution::quantile. Allocates nothing.
  std::chrono::nanoseconds quantile(double part) const noexcept;

  /// A copy of the content. A frame that is recorded meanwhile is in it, or in the next.
  frame_distribution read() const;
  /// Adds the frames of another histogram.
  void merge(const frame_histogram& other) noexcept;
  /// Forgets all frames. A frame that is recorded meanwhile may be counted in parts.
  void reset() noexcept;

 private:
  void note_longest(std::uint64_t ns) noexcept {
    std::uint64_t longest = longest_.load(std::memory_order_relaxed);
    while (ns > longest &&
           !longest_.compare_exchange_weak(longest, ns, std::memory_order_relaxed)) {
    }
  }

  std::array<std::atomic<std::uint64_t>, detail::frame_classes::count> counts_{};
  std::atomic<std::uint64_t> sum_{0};
  std::atomic<std::uint64_t> longest_{0};
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
};

}  // namespace tune
