// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

namespace tune::detail {

/// A quantile with bounds.
struct bounded_quantile {
  double value = 0;
  double lower = 0;
  double upper = 0;
};

/// Frames in blocks of consecutive ones, each block from another time. Late and slow frames come in
/// bursts, so that n frames tell less than n independent ones: the dispersion of the blocks says
/// how much less.
class frame_blocks {
 public:
  void add(const std::vector<double>& latencies) {
    blocks_.push_back(latencies);
    frames_ += latencies.size();
  }
  std::size_t frames() const noexcept { return frames_; }
  std::size_t blocks() const noexcept { return blocks_.size(); }
  /// The number of frames above a limit.
  std::size_t above(double limit) const;
  /// The number of blocks with a frame above a limit.
  std::size_t blocks_above(double limit) const;
  /// A quantile by order statistics, with a 95 % interval (Wilson's of the binomial distribution),
  /// for as many independent frames as the dispersion of the exceedances leaves. Without frames all
  /// are infinite.
  /// @param part  from 0 to 1; 1 is the longest
  bounded_quantile quantile(double part) const;

 private:
  /// The variance of the exceedances of blocks over that of independent frames; at least 1.
  double dispersion(double limit) const;

  std::vector<std::vector<double>> blocks_;
  std::size_t frames_ = 0;
};

}  // namespace tune::detail
