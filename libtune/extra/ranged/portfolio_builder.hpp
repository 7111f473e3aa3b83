// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/extra/ranged/cost_model.hpp"
#include "libtune/extra/ranged/portfolio_fit.hpp"
#include "libtune/extra/ranged/size_range.hpp"

namespace tune {

/// The largest number of features of sizes.
inline constexpr std::size_t most_features = 8;

/// Further coordinates that, in the author's view, influence the best configuration, such as the
/// number of waves of work groups, or the remainder in the last one. Unused ones stay 0.
using size_feature_list = std::array<double, most_features>;
/// Computes the features of sizes. Must not allocate or throw.
using size_features = std::function<size_feature_list(std::span<const std::uint64_t>)>;

/// The coordinates that a tree compares: the sizes, their product, the largest power of two that
/// divides each size, and the features.
using size_point = std::array<double, 2 * most_ranges + 1 + most_features>;

/// Sizes that programs have requested.
struct asked_sizes {
  size_list sizes{};        ///< in the order of the ranges
  std::uint64_t count = 1;  ///< the number of requests
};

/// The settings for building a portfolio.
struct portfolio_plan {
  std::vector<size_range> ranges{};  ///< one to four
  size_features features{};          ///< may be empty
  /// Returns the function for the cost terms of a configuration; may be empty. Costs choose if they
  /// lose less than a tree at sizes left out of the fit.
  std::function<cost_function(const std::vector<named_value>&)> costs{};
  /// Requested sizes, which are measured too: first those outside the ranges, about which nothing
  /// else is known, then the most frequent ones. Together they have the same weight as all other
  /// sizes, in proportion to their counts; and at each of them, the fastest configuration there is
  /// chosen.
  std::vector<asked_sizes> asked{};
  std::size_t most_asked = 64;  ///< the largest number of requested sizes to measure
  portfolio_limits limits{};    ///< the limits of the portfolio
  std::size_t searches = 3;     ///< searches of the whole space, at sizes that are spread over the
                                ///< ranges
  std::size_t samples = 0;      ///< sizes at which configurations are compared; 0: depends on the
                                ///< ranges
  /// The best configurations of each search that are compared at all sizes, unless the search
  /// covers the whole space.
  std::size_t finalists = 24;
  /// The largest space whose configurations are all compared, after a single search.
  std::size_t most_compared = 1024;
  /// The sizes at which all of these are compared; after that, only configurations continue that
  /// were near the best at one of the sizes.
  std::size_t pilots = 12;
  /// Audits at new sizes: the choice is compared with a search around it, or with the whole space
  /// if that can be measured. At least this many, and more while the loss exceeds limits.loss;
  /// twice as many if the whole space is measured, which costs less.
  std::size_t audits = 3;
  std::size_t most_audits = 8;  ///< the largest number of audits
};

/// Searches and measures configurations. Used by one thread.
class portfolio_source {
 public:
  /// The values of a tuning.
  using configuration = std::vector<named_value>;

  portfolio_source() = default;
  virtual ~portfolio_source() = default;
  portfolio_source(const portfolio_source&) = delete;
  portfolio_source& operator=(const portfolio_source&) = delete;

  /// The result of a search.
  struct findings {
    std::vector<configuration> best{};  ///< the best first; empty if nothing works there
    /// True if these are the whole space, tried or not, except for configurations that work
    /// nowhere.
    bool is_whole = false;
  };

  /// The largest numbers of configurations to return.
  struct found_limits {
    std::size_t best = 24;  ///< of the tried configurations
    std::size_t all = 0;    ///< the whole space is returned if it is no larger than this
  };

  /// The time of a configuration that was not measured for lack of time.
  static constexpr double not_measured = std::numeric_limits<double>::quiet_NaN();

  /// Searches the space at these sizes.
  /// @param sizes  one for each range
  /// @param most   the largest numbers of configurations to return
  /// @param near   empty, or a configuration: then a few trials around it replace the whole search
  virtual findings search(const size_list& sizes, const found_limits& most,
                          const std::optional<configuration>& near) = 0;
  /// Announces sizes at which these configurations are measured next, so that slow preparations,
  /// such as compiling programs that depend on the sizes, can begin for all of them.
  virtual void prepare(std::span<const size_list>, std::span<const configuration>) {}
  /// Measures configurations at these sizes, in turn, with a few runs each. Returns a time for
  /// each: empty for one that does not work, not_measured for one without a measurement.
  /// @param sizes  one for each range
  /// @param all    the most promising first; they are measured in this order
  virtual std::vector<std::optional<double>> measure(const size_list& sizes,
                                                     std::span<const configuration> all) = 0;
  /// Runs configurations at these sizes and checks their results. Returns true for each correct
  /// one.
  virtual std::vector<bool> check(const size_list& sizes, std::span<const configuration> all) {
    std::vector<bool> works;
    for (const auto& time : measure(sizes, all)) works.push_back(time.has_value());
    return works;
  }
  /// True if no further work may begin; the portfolio is then made from the results so far.
  virtual bool should_stop() { return false; }
  /// Returns the part of the time that the comparisons and later steps have used: from 0 to 1, and
  /// 1 if should_stop. Comparisons leave some time to the later steps.
  virtual double used_time() { return should_stop() ? 1 : 0; }
  /// True if a configuration may be chosen for these sizes. If not, it is not measured there.
  virtual bool fits(const configuration&, const size_list&) { return true; }
};

/// Requested sizes, with the configurations that were measured there.
struct proven_sizes {
  size_list sizes{};                   ///< in the order of the ranges
  std::vector<std::uint32_t> order{};  ///< the places of the working configurations, the fastest
                                       ///< first

  friend bool operator==(const proven_sizes&, const proven_sizes&) = default;
};

/// A portfolio: its configurations, the choice among them, and its losses.
struct built_portfolio {
  /// In the order of the tree's choices; the last is the fallback.
  std::vector<portfolio_source::configuration> configurations{};
  size_tree tree{};  ///< chooses by the coordinates if factors is empty
  /// The factors of the configurations, of which the one with the smallest predicted time is
  /// chosen; infinite for one that is never chosen. Empty: the tree chooses.
  std::vector<cost_factors> factors{};
  cost_corrections corrections{};  ///< of the predicted times
  leaf_orders orders{};            ///< for the tree's nodes, for sizes that a leaf's choice does
                                   ///< not fit
  std::vector<proven_sizes> proven{};  ///< in the order of the sizes
  /// The mean loss over sizes, estimated by leaving sizes out; 0.02 is 2 % slower; infinite: too
  /// few sizes.
  double expected_loss = 0;
  double worst_loss = 0;     ///< nine of ten sizes lose at most this; infinite: too few sizes
  std::size_t sizes = 0;     ///< the number of sizes at which configurations were compared
  std::size_t compared = 0;  ///< the number of configurations that were compared
  /// The number of leaves, or of configurations if there is no tree, that have not been checked for
  /// lack of time or of sizes to run them at.
  std::size_t unchecked = 0;
};

/// Returns the coordinates of sizes. Allocates nothing.
/// @param sizes     at most most_ranges
/// @param features  may be empty
size_point point_of(std::span<const std::uint64_t> sizes, const size_features& features);

/// Builds a portfolio: searches at a few sizes, compares the best configurations at many, fits a
/// choice, and estimates its losses, at sizes left out of the fit and by searches around the choice
/// at new sizes. While the loss exceeds the limit, the configurations that these find are compared,
/// too.
/// @param plan      the ranges and the effort
/// @param fallback  a configuration that works at all sizes: the test default
/// @param from      searches and measures
/// @throws argument_error if there are no ranges, or more than four
built_portfolio build_portfolio(const portfolio_plan& plan,
                                const portfolio_source::configuration& fallback,
                                portfolio_source& from);

}  // namespace tune
