// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What was measured at sizes, and what is made of it before a portfolio is fitted.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "libtune/base/cxx20.hpp"
#include "libtune/extra/ranged/cost_model.hpp"

namespace tune {

/// Returns how much a loss counts beside others: past the bound more (portfolio_limits::loss).
double counted_loss(double loss, double bound) noexcept;

/// The times of configurations at sizes.
struct size_times {
  /// A size.
  struct sample {
    std::vector<double> point{};  ///< its coordinates
    double weight = 1;            ///< how much it counts beside the others
    /// The time of each configuration, in any unit; infinite for one that does not work there. All
    /// samples have as many.
    std::vector<double> times{};
    /// False for a configuration that is not chosen there, because it may not be launched; empty:
    /// all may be.
    std::vector<bool> fits{};
    /// The place among the others, for smoothed and with_between: each number from 0 to 1; empty:
    /// it stays as it is.
    std::vector<double> place{};
    /// The terms of the cost of each configuration, as the author gives them; empty: unknown.
    std::vector<cost_terms> terms{};
  };

  std::vector<sample> samples{};  ///< all of the same lengths
  /// The terms of each configuration at sizes where nothing was timed, for fit_portfolio_by_costs;
  /// null: none.
  std::shared_ptr<const std::vector<std::vector<cost_terms>>> imagined{};

  /// The time of a configuration over the least one at this size, less 1: 0.05 is 5 % slower.
  double loss(std::size_t sample, std::size_t configuration) const;
};

/// Returns times without most of their noise: the ratio of each to the geometric mean of all that
/// work at its sample becomes the mean over the samples nearby. Times of a few microseconds differ
/// by several percent from run to run, and the least of many is mostly luck.
/// @param times  of samples with places
/// @param width  of the neighbourhood, the standard deviation of a Gaussian; 0: they stay as they
///               are
size_times smoothed(const size_times& times, double width);

/// Returns times with more samples, which take over nearly all of the weight: at places between,
/// where nothing was timed, what a configuration costs (a loss, and four times what is past the
/// bound) is the mean of its costs at the samples nearby, and what fails at the nearest fails
/// there. So a choice that few samples ask for does not reach far beyond them, and one that is slow
/// at some sizes nearby is avoided.
/// @param times    of samples; those without a place stay as they are
/// @param between  sizes with points and places, without times; none: nothing changes
/// @param bound    as in portfolio_limits::loss
size_times with_between(const size_times& times, const std::vector<size_times::sample>& between,
                        double bound);

}  // namespace tune
