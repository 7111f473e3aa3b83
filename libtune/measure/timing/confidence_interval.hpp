// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>

#include "libtune/measure/timing/samples.hpp"

namespace tune {

/// Between which times the true median lies, with a confidence that was asked for.
struct interval {
  run_time lower{0};  ///< nanoseconds; zero if nothing is known
  /// Nanoseconds; infinity if nothing is known.
  run_time upper{std::numeric_limits<double>::infinity()};

  friend bool operator==(const interval&, const interval&) = default;
};

/// The confidence interval of the median. Where there are enough samples (6 for 95 %, 8 for 99 %)
/// it is one of order statistics, which holds for any distribution. Fewer are too few for
/// that: then it is the median, plus and minus the error that follows from their spread,
/// of which the pooled one is believed the more the fewer samples there are. Up to 5 samples the
/// least of them and the largest stand for the median, so that one outlier does not displace the
/// bounds.
/// @param of             the times of one configuration
/// @param confidence     between 0 and 1, both excluded: 0.95
/// @param pooled_spread  the relative spread that configurations of this search have otherwise
///                       (pooled_spread); where it is not known, few samples tell nothing
/// @return from zero to infinity if nothing is known, also if the samples are not valid
/// @throws argument_error for another confidence
interval confidence_interval(const samples& of, double confidence,
                             double pooled_spread = std::numeric_limits<double>::infinity());

/// How many standard deviations on either side of the mean of a normal distribution hold this part
/// of it: 1.96 for 0.95. @throws argument_error as confidence_interval
double normal_deviate(double confidence);

/// The standard error of a median of so many samples, in units of their spread.
double median_error(std::size_t samples) noexcept;

}  // namespace tune
