// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// The duration of one run, in nanoseconds; a mean may have a fraction.
using run_time = std::chrono::duration<double, std::nano>;

/// The times of several runs of one configuration, in the order of the runs, and their statistics.
/// Any time may be added, even an invalid one; every statistic is NaN if there are no samples or
/// one is infinite or NaN.
class samples {
 public:
  samples() = default;
  /// Takes these times.
  explicit samples(std::vector<run_time> times) : times_(std::move(times)) {}

  /// Appends the time of one more run.
  void add(run_time time) { times_.push_back(time); }

  /// The number of times, valid or not.
  std::size_t size() const noexcept { return times_.size(); }
  /// The times in the order of the runs; the span is valid until a time is added.
  std::span<const run_time> times() const noexcept { return times_; }

  /// True if there are samples and all of them are finite and greater than zero.
  bool valid() const noexcept;

  /// The smallest sample.
  run_time min() const;
  /// The arithmetic mean.
  run_time mean() const;
  /// The middle sample, or the mean of the two in the middle.
  run_time median() const;
  /// The median absolute deviation from the median, times 1.4826. For normally distributed times
  /// this estimates their standard deviation, but a few outliers do not change it.
  run_time spread() const;
  /// The spread relative to the median: 0.01 is one per cent.
  double relative_spread() const;

 private:
  bool finite() const noexcept;

  std::vector<run_time> times_;
};

/// The time of a configuration for reports and the database, smaller is better: the median. Empty
/// if the samples are not valid, so that they cannot win.
std::optional<run_time> score(const samples& of);

/// Bounds of the true median at a given confidence, in nanoseconds.
struct interval {
  run_time lower{0};  ///< zero without a bound
  /// Infinity without a bound.
  run_time upper{std::numeric_limits<double>::infinity()};

  friend bool operator==(const interval&, const interval&) = default;
};

/// The confidence interval of the median. With enough samples (6 for 95 %, 8 for 99 %) it is one of
/// order statistics, which holds for any distribution. With fewer samples it is the median plus and
/// minus its error, estimated from the samples' spread and the pooled spread, whose weight grows as
/// samples become fewer. With up to 5 samples, the smallest and the largest replace the median, so
/// that one outlier does not displace the bounds.
/// @param of             the times of one configuration
/// @param confidence     between 0 and 1, both excluded: 0.95
/// @param pooled_spread  the relative spread over all configurations of this search; infinity if
/// unknown, and then few samples give no bounds
/// @return from zero to infinity if there are no bounds, or the samples are not valid
/// @throws argument_error if confidence is out of range
interval confidence_interval(const samples& of, double confidence,
                             double pooled_spread = std::numeric_limits<double>::infinity());

/// The number of standard deviations on either side of the mean of a normal distribution that
/// contain this part of it: 1.96 for 0.95. @throws argument_error as confidence_interval
double normal_deviate(double confidence);

/// The standard error of a median of this many samples, in units of their spread.
double median_error(std::size_t samples) noexcept;

}  // namespace tune
