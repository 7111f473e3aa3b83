// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <optional>

namespace tune::detail {

/// The times of an operation have left their distribution.
struct drift {
  double reference_ns = 0;  ///< the median before
  double now_ns = 0;        ///< the median now
};

/// Watches the times of an operation in service. The medians of the first 16 blocks of 16 times are
/// the reference. It reports a drift when all but one of the last eight medians lie beyond the
/// reference on one side, by more than 4 % and by more than three times the spread of the medians
/// of the reference; then it learns the reference anew. A shift of 10 % is found after 7 to 32
/// blocks where the times vary by up to 5 %. Outliers do not count, nor does interference of fewer
/// than seven blocks. Allocates nothing. Knows no device and no clock.
class drift_watch {
 public:
  static constexpr std::size_t block = 16;             ///< times for a median
  static constexpr std::size_t reference_blocks = 16;  ///< medians for the reference
  static constexpr std::size_t window = 8;             ///< medians that are compared with it
  static constexpr double least_shift = 0.04;

  /// @param time_ns  above zero; others are passed over
  std::optional<drift> add(double time_ns) noexcept;
  /// Learns the reference anew, for another tuning.
  void restart() noexcept { *this = {}; }

  /// The median of the reference; empty until it has been learnt.
  std::optional<double> reference_ns() const noexcept;

 private:
  void learn() noexcept;
  std::optional<drift> compare() const noexcept;

  std::array<double, block> times_{};
  std::size_t times_count_ = 0;
  std::array<double, reference_blocks> medians_{};  // of the reference, then the last ones
  std::size_t medians_count_ = 0;
  double reference_ = 0;  // zero: not learnt yet
  double shift_ = 0;      // a part of it
};

}  // namespace tune::detail
