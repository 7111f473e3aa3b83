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
  take_back,  ///< it is not, or that cannot be told
};

/// Compares a candidate with the tuning in service by pairs of blocks that ran one after the other,
/// so that clocks, heat and neighbours hit both alike. The order within a pair is drawn at random:
/// a candidate that is as fast is then the first of a pair to be slower as often as the second,
/// whatever disturbs them, and the ratios have a symmetric distribution. That is all that the test
/// assumes (Wilcoxon's signed ranks of the logarithms of the ratios), so outliers, drift, steps and
/// interference that lasts do not mislead it. It looks at a few fixed numbers of pairs. On doubt
/// the candidate is taken back. Allocates nothing. Knows no device and no clock.
class probation {
 public:
  static constexpr std::size_t most_pairs = 256;
  /// The least gain that is worth a swap.
  static constexpr double least_gain = 0.005;

  /// @param seed  of the order within pairs
  explicit probation(std::uint64_t seed = 1) noexcept : random_(seed * 2 + 1) {}

  /// Draws the order of the next pair: true if the candidate runs first.
  bool candidate_first() noexcept;

  /// Adds a pair. @param ratio  the time with the candidate, divided by that without it; finite and
  /// above zero, others are passed over
  verdict add(double ratio) noexcept;

  std::size_t pairs() const noexcept { return count_; }
  /// The median of the ratios; 1 without any.
  double ratio() const noexcept;

 private:
  double signed_rank() const noexcept;
  bool is_disaster() const noexcept;

  std::array<double, most_pairs> logarithms_{};
  std::size_t count_ = 0;
  std::uint64_t random_;
};

}  // namespace tune::detail
