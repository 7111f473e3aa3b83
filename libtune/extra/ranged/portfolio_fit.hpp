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

/// The bounds of a portfolio.
struct portfolio_limits {
  std::size_t configurations = 8;  ///< at most; one at least
  std::size_t leaves = 16;         ///< of the tree that chooses, at most; one at least
  /// The loss past which one counts more: a size that is far off is worse than many that are
  /// nearly right.
  double loss = 0.05;
  /// That the making of a portfolio may take, however short its first search is: more where to
  /// compare at a size takes long, as for plans of libraries.
  std::chrono::seconds time{3};
};

/// A few configurations, and the choice among them.
struct portfolio_fit {
  std::vector<std::size_t> configurations{};  ///< their numbers, the tree's choices in order
  size_tree tree{};                           ///< chooses one by its place among them
  /// By which that of the least predicted time is chosen; empty: the tree chooses.
  std::vector<cost_factors> factors{};
  cost_corrections corrections{};  ///< of the times that are predicted

  /// The number of the configuration that the tree has for a point.
  std::size_t choose(std::span<const double> point) const {
    return configurations[tree.choose(point)];
  }
  /// The number of the configuration that is chosen where the terms of all are these.
  std::size_t choose(std::span<const double> point, std::span<const cost_terms> terms) const;
};

/// The number of a configuration that is one of a portfolio in any case; nothing: none is.
using kept_configuration = std::optional<std::size_t>;

/// Returns the numbers of configurations that together are near the best at all samples: that which
/// is kept, then greedily each the one that lowers the losses most, exchanged one after the other.
/// @param times   one sample at least
/// @param limits  of them; fewer are enough if no other lowers the losses
/// @param kept    is one of them
std::vector<std::size_t> most_useful(const size_times& times, const portfolio_limits& limits,
                                     const kept_configuration& kept = std::nullopt);

/// Chooses few configurations that are near the best at all samples (most_useful), then a tree of
/// comparisons that is grown where that lowers them most. No leaf has a configuration that does not
/// work at a sample in it, as long as another does.
/// @param times   one sample at least, each with a configuration that works
/// @param limits  of the portfolio
/// @param kept    counts as one of its configurations, whether the tree chooses it or not
/// @throws argument_error if there is no sample
portfolio_fit fit_portfolio(const size_times& times, const portfolio_limits& limits = {},
                            const kept_configuration& kept = std::nullopt);

/// Chooses few configurations that are near the best at all samples, and at sizes that were not
/// timed, where their times are predicted (fit_costs). That of the least predicted time is chosen.
/// @param times   one sample at least; all have terms
/// @param limits  of the portfolio; no tree is made
/// @param kept    is one of its configurations
/// @param ranges  of the sizes, which are the first coordinates of a sample, if predicted times are
///                to be corrected by what they miss nearby (fit_corrections); empty: they are not
/// @throws argument_error if there is no sample
portfolio_fit fit_portfolio_by_costs(const size_times& times, const portfolio_limits& limits = {},
                                     const kept_configuration& kept = std::nullopt,
                                     std::span<const size_range> ranges = {});

/// Makes a portfolio of some samples.
using portfolio_fitter = std::function<portfolio_fit(const size_times&)>;

/// Places of configurations in a portfolio, for each node of its tree: of a leaf its choice, then
/// the others that work there, the fastest first; none of comparisons.
using leaf_orders = std::vector<std::vector<std::uint32_t>>;

/// Returns the order of the configurations in each leaf, by their losses at the samples that are in
/// it. One that does not work at one of them is left out, unless it is the choice.
/// @param times           as for fit_portfolio
/// @param tree            chooses among the configurations
/// @param configurations  their numbers in the times, in the order of their places
/// @param limits          of the portfolio
leaf_orders order_leaves(const size_times& times, const size_tree& tree,
                         std::span<const std::size_t> configurations,
                         const portfolio_limits& limits = {});

/// Returns for each sample, or of 400 and more for a quarter of them, its loss with the portfolio
/// that is fitted to others, by what is chosen there: to all others, or, of more than sixteen, to
/// those of the other fifteen sixteenths; the first in the order of the leaf that fits, at last the
/// first configuration of all. An estimate of the losses at sizes that are not among the samples.
/// @param times   two samples at least; none are returned for fewer
/// @param fit     makes a portfolio of the others
std::vector<double> left_out_losses(const size_times& times, const portfolio_fitter& fit);

}  // namespace tune
