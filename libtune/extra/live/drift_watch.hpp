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
/// of the reference; then it learns a new reference. If the times vary by up to 5 %, a shift of 10
/// % is found after 7 to 32 blocks. Outliers do not count, nor does interference of fewer than
/// seven blocks. Allocates nothing. Knows no device and no clock.
class drift_watch {
 public:
  static constexpr std::size_t block = 16;             ///< times for a median
  static constexpr std::size_t reference_blocks = 16;  ///< medians for the reference
  /// Medians that are compared with the reference.
  static constexpr std::size_t window = 8;
  static constexpr double least_shift = 0.04;

  /// @param time_ns  above zero; other values are ignored
  std::optional<drift> add(double time_ns) noexcept;
  /// Learns a new reference, for another tuning.
  void restart() noexcept { *this = {}; }

  /// The median of the reference; empty until it has been learnt.
  std::optional<double> reference_ns() const noexcept;

 private:
  void learn() noexcept;
  std::optional<drift> compare() const noexcept;

  std::array<double, block> times_{};
  std::size_t times_count_ = 0;
  std::array<double, reference_blocks> medians_{};  // the reference's medians, then the latest
  std::size_t medians_count_ = 0;
  double reference_ = 0;  // zero: not learnt yet
  double shift_ = 0;      // a part of the reference
};

}  // namespace tune::detail
