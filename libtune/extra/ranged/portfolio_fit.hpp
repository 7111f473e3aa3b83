// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "libtune/base/cxx20.hpp"
#include "libtune/extra/ranged/cost_corrections.hpp"
#include "libtune/extra/ranged/cost_model.hpp"
#include "libtune/extra/ranged/size_times.hpp"
#include "libtune/extra/ranged/size_tree.hpp"

namespace tune {

/// The limits of a portfolio.
struct portfolio_limits {
  std::size_t configurations = 8;  ///< the largest number, at least one
  std::size_t leaves = 16;         ///< the largest number of leaves of the tree, at least one
  /// Losses beyond this count more: one very wrong size is worse than many nearly right ones.
  double loss = 0.05;
  /// The time that building a portfolio may take, even if its first search is short. Set it higher
  /// if a comparison at one size takes long, as for plans of libraries.
  std::chrono::seconds time{3};
};

/// A few configurations, and the choice among them.
struct portfolio_fit {
  std::vector<std::size_t> configurations{};  ///< their numbers; the tree's choices are places in
                                              ///< this list
  size_tree tree{};                           ///< chooses a place in configurations
  /// The factors of the configurations; the smallest predicted time is chosen. Empty: the tree
  /// chooses.
  std::vector<cost_factors> factors{};
  cost_corrections corrections{};  ///< of the predicted times

  /// Returns the number of the configuration that the tree chooses for a point.
  std::size_t choose(std::span<const double> point) const {
    return configurations[tree.choose(point)];
  }
  /// Returns the number of the chosen configuration for a point and the terms of all
  /// configurations.
  std::size_t choose(std::span<const double> point, std::span<const cost_terms> terms) const;
};

/// The number of a configuration that a portfolio must contain; empty: no such configuration.
using kept_configuration = std::optional<std::size_t>;

/// Returns the numbers of configurations of which one is near the best at each sample: the kept
/// one, then greedily the one that lowers the losses most, and finally improved by exchanging
/// single ones.
/// @param times   at least one sample
/// @param limits  limits their number; there are fewer if no further one lowers the losses
/// @param kept    included in any case
std::vector<std::size_t> most_useful(const size_times& times, const portfolio_limits& limits,
                                     const kept_configuration& kept = std::nullopt);

/// Chooses few configurations of which one is near the best at each sample (most_useful), then
/// grows a tree of comparisons where that lowers the losses most. A leaf chooses a configuration
/// that works at all of its samples if there is one.
/// @param times   at least one sample, each with a configuration that works
/// @param limits  of the portfolio
/// @param kept    counts as one of the portfolio's configurations, even if the tree never chooses
/// it
/// @throws argument_error if there are no samples
portfolio_fit fit_portfolio(const size_times& times, const portfolio_limits& limits = {},
                            const kept_configuration& kept = std::nullopt);

/// Chooses few configurations of which one is near the best at each sample, and at sizes without
/// measurements, whose times are predicted (fit_costs). The configuration with the smallest
/// predicted time is chosen.
/// @param times   at least one sample; all have terms
/// @param limits  of the portfolio; no tree is made
/// @param kept    included in any case
/// @param ranges  the ranges of the sizes, which are the first coordinates of a sample: predicted
/// times are corrected (fit_corrections); empty: no corrections
/// @throws argument_error if there are no samples
portfolio_fit fit_portfolio_by_costs(const size_times& times, const portfolio_limits& limits = {},
                                     const kept_configuration& kept = std::nullopt,
                                     std::span<const size_range> ranges = {});

/// Fits a portfolio to samples.
using portfolio_fitter = std::function<portfolio_fit(const size_times&)>;

/// Places of configurations in a portfolio, for each node of its tree: for a leaf its choice, then
/// the others that work there, the fastest first; empty for a comparison.
using leaf_orders = std::vector<std::vector<std::uint32_t>>;

/// Returns the order of the configurations in each leaf, by their losses at the leaf's samples. A
/// configuration that fails at one of them is left out, unless it is the choice.
/// @param times           as for fit_portfolio
/// @param tree            chooses among the configurations
/// @param configurations  their numbers in the times, in the order of their places
/// @param limits          of the portfolio
leaf_orders order_leaves(const size_times& times, const size_tree& tree,
                         std::span<const std::size_t> configurations,
                         const portfolio_limits& limits = {});

/// Returns an estimate of the losses at sizes without samples, by cross-validation. Samples are
/// left out one by one, or, if there are more than sixteen, a sixteenth at a time. A portfolio is
/// fitted to the remaining samples, and its loss at each left-out sample is returned; with 400
/// samples or more, only for a quarter of them. If the choice does not fit, the next one in the
/// leaf's order is taken, and finally the first configuration of all.
/// @param times   at least two samples; with fewer, the result is empty
/// @param fit     fits a portfolio to the remaining samples
std::vector<double> left_out_losses(const size_times& times, const portfolio_fitter& fit);

}  // namespace tune
