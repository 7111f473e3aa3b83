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

/// The configurations that are compared for a portfolio, and their times at sizes. A configuration
/// that fails for the first time is measured once more, so that a transient fault does not count.
class comparisons {
 public:
  using configuration = portfolio_source::configuration;
  /// The numbers of configurations.
  using numbers = std::vector<std::size_t>;

  /// The time, or the loss, of a configuration that does not work at some sizes.
  static constexpr double does_not_work = std::numeric_limits<double>::infinity();
  /// The largest loss of a promising configuration at some sizes; an unmeasured one is assumed to
  /// lose at least as much.
  static constexpr double promising = 0.25;
  /// The largest number of an audit's candidates that are compared at all sizes.
  static constexpr std::size_t most_fresh = 3;

  /// The result of an audit at new sizes.
  struct audited {
    double loss;  ///< of the chosen configuration
    double gap;   ///< the loss of the best configuration of the earlier comparisons
  };

  /// @param plan      has to outlive this object, and so does from
  /// @param fallback  the first configuration
  comparisons(const portfolio_plan& plan, const configuration& fallback, portfolio_source& from);

  /// The configurations, each once; their numbers are its indices. The first is the fallback.
  const std::vector<configuration>& configurations() const noexcept { return configurations_; }
  /// The configurations that were left out.
  const std::vector<configuration>& others() const noexcept { return others_; }
  /// The number of configurations that have ever been compared.
  std::size_t seen() const noexcept { return seen_.size(); }
  /// Their times; one sample for each of sizes().
  const size_times& times() const noexcept { return times_; }
  /// The sizes at which they were compared, in order.
  const std::vector<size_list>& sizes() const noexcept { return sizes_; }
  /// True if they were compared at these sizes.
  bool has(const size_list& at) const;
  /// Returns the square of the distance of sizes, on the scales of the ranges.
  double distance(const size_list& a, const size_list& b) const;

  /// Adds the new ones among these. Call it before they are compared.
  void add(std::span<const configuration> found);
  /// Announces that all configurations are compared next at some of these sizes.
  void prepare(std::span<const size_list> next) { from_.prepare(next, configurations_); }
  /// Compares all at these sizes. Returns false if nothing works there, or time is up.
  bool compare(const size_list& at, double weight);
  /// Continues with the configurations of these numbers, in this order, and leaves out the others.
  void keep(const numbers& kept, const numbers& left);
  /// Discards the configurations that do not work, for good.
  void discard(const std::vector<bool>& works);
  /// Computes the cost terms at these sizes, without measurements.
  void imagine(const std::vector<size_list>& at);
  /// Compares candidates, left out earlier or new, with the others at new sizes; candidates with a
  /// notable gain are then compared at all sizes. Returns nothing if nothing works there.
  /// @param chosen  the number of the configuration that is chosen there
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
