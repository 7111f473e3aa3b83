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

namespace tune::detail {

/// Counts intervals by their length, in classes of 3 %, from a quarter of a microsecond to a
/// minute. One thread at a time adds; any thread may read meanwhile.
class interval_tally {
 public:
  static constexpr unsigned first_octave = 8;
  static constexpr unsigned octaves = 28;
  static constexpr unsigned parts = 32;  // parts of an octave
  static constexpr std::size_t classes = std::size_t{octaves} * parts;

  /// The class of a length.
  static constexpr std::size_t class_of(std::int64_t ns) noexcept {
    constexpr std::int64_t least = std::int64_t{1} << first_octave;
    if (ns < least) return 0;
    const auto length = static_cast<std::uint64_t>(ns);
    const unsigned octave = static_cast<unsigned>(std::bit_width(length)) - 1;
    const auto part = (length >> (octave - 5)) & (parts - 1);
    const std::size_t found = (octave - first_octave) * std::size_t{parts} + part;
    return found < classes ? found : classes - 1;
  }
  /// The greatest length of a class, in ns.
  static std::chrono::nanoseconds end_of(std::size_t of) noexcept {
    const auto octave = static_cast<unsigned>(of / parts) + first_octave;
    const auto part = static_cast<std::int64_t>(of % parts);
    return std::chrono::nanoseconds((parts + part + 1) << (octave - 5));
  }

  void add(std::int64_t ns) noexcept {
    auto& count = counts_[class_of(ns)];
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if (ns > longest_.load(std::memory_order_relaxed)) {
      longest_.store(ns, std::memory_order_relaxed);
    }
  }

  /// The counts at one moment.
  struct snapshot {
    std::vector<std::uint64_t> counts = std::vector<std::uint64_t>(classes);
    std::chrono::nanoseconds longest{0};

    std::uint64_t total() const noexcept;
    /// The length that this part of the intervals does not exceed, rounded up to the end of its
    /// class; zero without intervals.
    std::chrono::nanoseconds quantile(double part) const noexcept;
    /// The intervals since an earlier snapshot; `longest` is the end of the last class.
    snapshot since(const snapshot& before) const;
    void add(const snapshot& other);
  };
  snapshot read() const;

 private:
  std::array<std::atomic<std::uint64_t>, classes> counts_{};
  std::atomic<std::int64_t> longest_{0};
};

}  // namespace tune::detail
