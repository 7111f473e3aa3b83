// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "libtune/extra/ranged/portfolio_builder.hpp"

namespace tune {

/// The configurations that are compared for a portfolio, and their times at sizes. One that fails
/// where it has worked at all sizes before is measured once more: a fault that passes does not
/// count.
class comparisons {
 public:
  using configuration = portfolio_source::configuration;
  /// The numbers of configurations.
  using numbers = std::vector<std::size_t>;

  /// The time of a configuration that does not work at some sizes; a loss, too.
  static constexpr double does_not_work = std::numeric_limits<double>::infinity();
  /// A configuration that loses no more at some sizes is promising; one that was not measured is
  /// taken to lose as much at least.
  static constexpr double promising = 0.25;
  /// So many of what an audit finds are compared at all sizes, at most.
  static constexpr std::size_t most_fresh = 3;

  /// At sizes that nothing had been measured at before.
  struct audited {
    double loss;  ///< of the choice
    double gap;   ///< of the best that had been compared before
  };

  /// @param plan      outlives it, as from does
  /// @param fallback  the first configuration
  comparisons(const portfolio_plan& plan, const configuration& fallback, portfolio_source& from);

  /// The configurations, each once; their numbers are its indices. The first is the fallback.
  const std::vector<configuration>& configurations() const noexcept { return configurations_; }
  /// Those that were left out.
  const std::vector<configuration>& others() const noexcept { return others_; }
  /// The number of all that have ever been compared.
  std::size_t seen() const noexcept { return seen_.size(); }
  /// Their times; as many samples as sizes.
  const size_times& times() const noexcept { return times_; }
  /// The sizes that they were compared at, in order.
  const std::vector<size_list>& sizes() const noexcept { return sizes_; }
  /// True if they were compared at these sizes.
  bool has(const size_list& at) const;
  /// Returns the square of the distance of sizes, by the scales of the ranges.
  double distance(const size_list& a, const size_list& b) const;

  /// Adds those of these that are new. To be called before they are compared.
  void add(std::span<const configuration> found);
  /// Announces that all are compared at some of these sizes next.
  void prepare(std::span<const size_list> next) { from_.prepare(next, configurations_); }
  /// Compares all at these sizes. Returns false if none works there, or there is no more time.
  bool compare(const size_list& at, double weight);
  /// Goes on with the configurations of these numbers, in this order, and leaves out others.
  void keep(const numbers& kept, const numbers& left);
  /// Goes on without those that do not work: they do not come back.
  void discard(const std::vector<bool>& works);
  /// Computes the terms of costs at these sizes, where nothing is timed.
  void imagine(const std::vector<size_list>& at);
  /// Compares some that were left out, or are new, with the others at sizes that nothing was
  /// measured at; what gains notably is compared at all sizes then. Returns nothing if none works
  /// there.
  /// @param chosen  the number of what is chosen there
  std::optional<audited> audit(const size_list& at, std::size_t chosen,
                               std::span<const configuration> candidates);

 private:
  using times_of_some = std::vector<std::optional<double>>;

  void take(const numbers& kept);
  bool has_worked(std::size_t number) const;
  times_of_some measure_beside(const size_list& at, std::size_t best, double time,
                               const numbers& all);
  void try_again(const size_list& at, std::size_t best, double time, std::size_t first,
                 times_of_some& measured);
  void fill_in(const size_list& at, times_of_some& measured) const;
  void confirm_best(const size_list& at, std::size_t known);
  void extend(std::size_t sample, std::size_t fresh);

  const portfolio_plan& plan_;
  portfolio_source& from_;
  std::vector<configuration> configurations_;
  std::vector<configuration> others_;
  std::vector<configuration> seen_;
  size_times times_;
  std::vector<size_list> sizes_;
};

}  // namespace tune
