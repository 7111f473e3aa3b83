// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tune::detail {

/// The result of a comparison in service.
enum class verdict : std::uint8_t {
  open,       ///< more pairs are needed
  keep,       ///< the candidate is faster
  take_back,  ///< it is not, or that is undecided
};

/// Compares a candidate with the tuning in service by pairs of consecutive blocks, so that clocks,
/// heat and neighbours affect both alike. The order within a pair is drawn at random: if the
/// candidate is as fast, each half of a pair is equally likely to be the slower one under any
/// disturbance, and the ratios have a symmetric distribution. The test assumes no more than that
/// (Wilcoxon's signed ranks of the logarithms of the ratios), so outliers, drift, steps and lasting
/// interference do not mislead it. It decides at a few fixed numbers of pairs. In doubt the
/// candidate is taken back. Allocates nothing. Knows no device and no clock.
class probation {
 public:
  static constexpr std::size_t most_pairs = 256;
  /// The least gain that is worth a swap.
  static constexpr double least_gain = 0.005;

  /// @param seed  of the order within pairs
  explicit probation(std::uint64_t seed = 1) noexcept : random_(seed * 2 + 1) {}

  /// Draws the order of the next pair: true if the candidate runs first.
  bool candidate_first() noexcept;

  /// Adds a pair. @param ratio  the time with the candidate, divided by that without it; values
  /// that are not finite and above zero are ignored
  verdict add(double ratio) noexcept;

  std::size_t pairs() const noexcept { return count_; }
  /// The median of the ratios; 1 without pairs.
  double ratio() const noexcept;

 private:
  double signed_rank() const noexcept;
  bool is_disaster() const noexcept;

  std::array<double, most_pairs> logarithms_{};
  std::size_t count_ = 0;
  std::uint64_t random_;
};

}  // namespace tune::detail
