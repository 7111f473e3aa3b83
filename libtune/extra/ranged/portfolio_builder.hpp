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

/// The most features of sizes.
inline constexpr std::size_t most_features = 8;

/// Further coordinates of sizes that an author expects the best configuration to depend on, such as
/// the number of waves of work groups, or what is left over in the last. Those not used stay 0.
using size_feature_list = std::array<double, most_features>;
/// Computes them. Allocates nothing, and does not throw.
using size_features = std::function<size_feature_list(std::span<const std::uint64_t>)>;

/// The coordinates of sizes by which a tree chooses: the sizes, their product, the greatest power
/// of two that divides each, the features.
using size_point = std::array<double, 2 * most_ranges + 1 + most_features>;

/// Sizes that programs have asked for.
struct asked_sizes {
  size_list sizes{};        ///< in the order of the ranges
  std::uint64_t count = 1;  ///< how often
};

/// The course of building a portfolio.
struct portfolio_plan {
  std::vector<size_range> ranges{};  ///< one to four
  size_features features{};          ///< may be empty
  /// Returns the function for the terms of the cost of a configuration; may be empty. What chooses
  /// by costs is taken if it loses less at sizes that are left out than a tree does.
  std::function<cost_function(const std::vector<named_value>&)> costs{};
  /// Measured too: those outside of the ranges, where nothing else is known, then those that were
  /// asked for most. Together they count as much as all others, each as often as it was asked for;
  /// and what was fastest at one of them is chosen there.
  std::vector<asked_sizes> asked{};
  std::size_t most_asked = 64;  ///< so many of them at most
  portfolio_limits limits{};    ///< of the portfolio
  std::size_t searches = 3;     ///< of the whole space, at sizes that are spread over the ranges
  std::size_t samples = 0;      ///< sizes at which configurations are compared; 0: by the ranges
  /// Of each search that does not see the whole space, that are compared at all sizes.
  std::size_t finalists = 24;
  /// All of a space that has no more configurations than this are compared, and one search is made.
  std::size_t most_compared = 1024;
  /// The sizes at which all of these are compared; then those go on that were near the best at one.
  std::size_t pilots = 12;
  /// Sizes that nothing has been measured at before, at which the choice is compared with a search
  /// around it, or with the whole space if that can be measured. That many at least, and more while
  /// the loss is over limits.loss; twice as many where the whole space is measured, which costs
  /// less.
  std::size_t audits = 3;
  std::size_t most_audits = 8;  ///< at most
};

/// Searches and measures configurations. Called by one thread.
class portfolio_source {
 public:
  /// The values of a tuning.
  using configuration = std::vector<named_value>;

  portfolio_source() = default;
  virtual ~portfolio_source() = default;
  portfolio_source(const portfolio_source&) = delete;
  portfolio_source& operator=(const portfolio_source&) = delete;

  /// The best of a search.
  struct findings {
    std::vector<configuration> best{};  ///< the best first; none if nothing works there
    /// True if these are all of the space, tried or not, except those that work nowhere.
    bool is_whole = false;
  };

  /// The most configurations to be found.
  struct found_limits {
    std::size_t best = 24;  ///< of those that it tried
    std::size_t all = 0;    ///< a space of no more than these is asked for as a whole
  };

  /// A time of a configuration that there was no time to measure.
  static constexpr double not_measured = std::numeric_limits<double>::quiet_NaN();

  /// Searches the space at these sizes.
  /// @param sizes  one of each range
  /// @param most   the greatest number of configurations that are wanted
  /// @param near   empty, or a configuration around which a few trials are made in place of a whole
  ///              search
  virtual findings search(const size_list& sizes, const found_limits& most,
                          const std::optional<configuration>& near) = 0;
  /// Announces sizes at which these are measured next, so that what takes long, such as programs
  /// that depend on the sizes, can be begun for all of them.
  virtual void prepare(std::span<const size_list>, std::span<const configuration>) {}
  /// Measures configurations at these sizes, each with a few runs, in turn. Returns a time for
  /// each; none for one that does not work, and not_measured.
  /// @param sizes  one of each range
  /// @param all    the most promising first: what comes first is measured first
  virtual std::vector<std::optional<double>> measure(const size_list& sizes,
                                                     std::span<const configuration> all) = 0;
  /// Runs configurations at these sizes and checks their results: true for each that is right.
  virtual std::vector<bool> check(const size_list& sizes, std::span<const configuration> all) {
    std::vector<bool> works;
    for (const auto& time : measure(sizes, all)) works.push_back(time.has_value());
    return works;
  }
  /// True if no more work is to be begun; what there is makes the portfolio.
  virtual bool should_stop() { return false; }
  /// Returns the part of the time that is used, by the comparisons and what comes after them: from
  /// 0 to 1, where should_stop is true. Comparisons leave some of it to the rest.
  virtual double used_time() { return should_stop() ? 1 : 0; }
  /// True if a configuration may be chosen for these sizes. Not measured where it may not.
  virtual bool fits(const configuration&, const size_list&) { return true; }
};

/// Sizes that were asked for, with the configurations that were measured there.
struct proven_sizes {
  size_list sizes{};                   ///< in the order of the ranges
  std::vector<std::uint32_t> order{};  ///< the places of those that work, the fastest first

  friend bool operator==(const proven_sizes&, const proven_sizes&) = default;
};

/// A portfolio: its configurations, and how much is lost by them.
struct built_portfolio {
  /// In the tree's order; the last is the fallback.
  std::vector<portfolio_source::configuration> configurations{};
  size_tree tree{};  ///< chooses one of them by the coordinates, if there are no factors
  /// Of the configurations, whose least predicted time is chosen; infinite for one that is not
  /// chosen. Empty: the tree chooses.
  std::vector<cost_factors> factors{};
  cost_corrections corrections{};  ///< of the times that are predicted
  leaf_orders orders{};            ///< of the tree's nodes, for sizes that a choice does not fit
  std::vector<proven_sizes> proven{};  ///< in the order of the sizes
  /// The mean over sizes, by those left out; 0.02 is 2 % slower; infinite: too few were seen.
  double expected_loss = 0;
  double worst_loss = 0;     ///< at most so much at nine of ten sizes; infinite: too few were seen
  std::size_t sizes = 0;     ///< at which configurations were compared
  std::size_t compared = 0;  ///< configurations that were
  /// Leaves, or without a tree configurations, that have not been checked, for want of time or of
  /// sizes to run them at.
  std::size_t unchecked = 0;
};

/// Returns the coordinates of sizes. Allocates nothing.
/// @param sizes     most_ranges at most
/// @param features  may be empty
size_point point_of(std::span<const std::uint64_t> sizes, const size_features& features);

/// Builds a portfolio: searches at a few sizes, compares what was best there at many, fits a
/// choice, and finds out how much is lost, at sizes left out of the fit and by searches around the
/// choice at sizes that were not seen; what these find is compared, too, as long as the loss is
/// over the limit.
/// @param plan      the ranges and the effort
/// @param fallback  a configuration that works at all sizes: the test default
/// @param from      searches and measures
/// @throws argument_error without a range, or with more than four
built_portfolio build_portfolio(const portfolio_plan& plan,
                                const portfolio_source::configuration& fallback,
                                portfolio_source& from);

}  // namespace tune
