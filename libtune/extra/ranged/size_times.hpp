// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Times measured at sizes, and their preparation for fitting a portfolio.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "libtune/base/cxx20.hpp"
#include "libtune/extra/ranged/cost_model.hpp"

namespace tune {

/// Returns the weighted loss: the part beyond the bound counts more (portfolio_limits::loss).
double counted_loss(double loss, double bound) noexcept;

/// The times of configurations at sizes.
struct size_times {
  /// A size.
  struct sample {
    std::vector<double> point{};  ///< its coordinates
    double weight = 1;            ///< relative to the other samples
    /// The time of each configuration, in any unit; infinite if it does not work there. The length
    /// is the same in all samples.
    std::vector<double> times{};
    /// False for a configuration that may not be launched, and so is not chosen there; empty: all
    /// may be launched.
    std::vector<bool> fits{};
    /// The position among the other samples, for smoothed and with_between: numbers from 0 to 1. If
    /// it is empty, these leave the sample unchanged.
    std::vector<double> place{};
    /// The terms of the cost of each configuration, from the author; empty: unknown.
    std::vector<cost_terms> terms{};
  };

  std::vector<sample> samples{};  ///< all of the same lengths
  /// The terms of each configuration at sizes without measurements, for fit_portfolio_by_costs; may
  /// be null.
  std::shared_ptr<const std::vector<std::vector<cost_terms>>> imagined{};

  /// The time of a configuration relative to the smallest at this size, less 1: 0.05 is 5 % slower.
  double loss(std::size_t sample, std::size_t configuration) const;
};

/// Returns times with less noise: the ratio of each time to the geometric mean of the working
/// configurations at its sample is averaged over the nearby samples. Times of a few microseconds
/// differ by several percent from run to run, and the smallest of many is mostly luck.
/// @param times  their samples have places
/// @param width  of the neighbourhood, the standard deviation of a Gaussian; 0: times are unchanged
size_times smoothed(const size_times& times, double width);

/// Returns times with additional samples at places without measurements, which get nearly all of
/// the weight. There, the weighted loss of a configuration (counted_loss) is the mean of its
/// weighted losses at the nearby samples, and a configuration fails if it fails at the nearest
/// sample. So a choice that is best at few samples does not extend far beyond them, and
/// configurations that are slow at some nearby sizes are avoided.
/// @param times    measured samples; those without a place are unchanged
/// @param between  samples with points and places, without times; if empty, times are unchanged
/// @param bound    as in portfolio_limits::loss
size_times with_between(const size_times& times, const std::vector<size_times::sample>& between,
                        double bound);

}  // namespace tune
