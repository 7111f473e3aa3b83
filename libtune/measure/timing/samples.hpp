// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// How long one run took, in nanoseconds; a fraction where a mean was taken.
using run_time = std::chrono::duration<double, std::nano>;

/// The times of several runs of one configuration, in the order of the runs, and what they say.
/// Any time may be added, even one that cannot be true; every statistic is NaN while there are no
/// samples and as soon as one is infinite or NaN.
class samples {
 public:
  samples() = default;
  /// Samples of these times, in nanoseconds.
  explicit samples(std::vector<run_time> times) : times_(std::move(times)) {}

  /// Appends the time of one more run, in nanoseconds.
  void add(run_time time) { times_.push_back(time); }

  /// How many times there are, valid or not.
  std::size_t size() const noexcept { return times_.size(); }
  /// The times in the order of the runs; the span holds until a time is added.
  std::span<const run_time> times() const noexcept { return times_; }

  /// Whether there are samples and all of them are finite and greater than zero.
  bool valid() const noexcept;

  /// The least sample, in nanoseconds.
  run_time min() const;
  /// The arithmetic mean, in nanoseconds.
  run_time mean() const;
  /// The middle sample, or the mean of the two in the middle.
  run_time median() const;
  /// The median absolute deviation from the median, times 1.4826. For normally distributed times
  /// that estimates their standard deviation, and unlike it a few outliers do not move it.
  run_time spread() const;
  /// The spread as a part of the median: 0.01 is one per cent.
  double relative_spread() const;

 private:
  bool finite() const noexcept;

  std::vector<run_time> times_;
};

/// What is told as the time of a configuration, less is better: the median. Empty if these samples
/// may not win because they are not valid.
std::optional<run_time> score(const samples& of);

}  // namespace tune
