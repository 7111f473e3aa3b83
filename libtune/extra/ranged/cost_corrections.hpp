// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Corrections of predicted times, as a function of sizes.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libtune/base/cxx20.hpp"
#include "libtune/extra/ranged/cost_model.hpp"
#include "libtune/extra/ranged/size_range.hpp"

namespace tune {

/// A grid over ranges of sizes: nodes an octave or more apart, from the lowest to the highest size
/// of each range, about a thousand at most. Immutable; thread-safe.
class size_grid {
 public:
  /// The nodes around sizes, and their weights, whose sum is 1.
  struct cell {
    std::size_t count = 0;                                             ///< the number of nodes
    std::array<std::uint32_t, std::size_t{1} << most_ranges> nodes{};  ///< the nodes' numbers
    std::array<float, std::size_t{1} << most_ranges> weights{};        ///< the nodes' weights
  };

  /// A grid without ranges.
  size_grid() = default;
  /// @param ranges  at most most_ranges
  explicit size_grid(std::span<const size_range> ranges);

  /// The number of nodes.
  std::size_t nodes() const noexcept { return nodes_; }
  /// Returns the logarithms to base 2 of the sizes of a node.
  std::vector<double> octaves(std::size_t node) const;
  /// Returns the nodes around these sizes, one size for each range. A size outside its range counts
  /// as the range's nearer end. Allocates nothing.
  cell find(std::span<const double> sizes) const noexcept;

 private:
  struct axis {
    double low = 0;   // a logarithm to base 2
    double step = 1;  // octaves
    std::size_t nodes = 1;
  };

  std::array<axis, most_ranges> axes_{};
  std::size_t dimensions_ = 0;
  std::size_t nodes_ = 0;
};

/// Factors that correct the predicted times of configurations by the times measured at nearby
/// sizes. A configuration may work in several ways, such as with or without clusters of work
/// groups. The terms of its cost that are either 0 or 1 distinguish these ways, and each way has
/// its own factors.
class cost_corrections {
 public:
  /// One way in which a configuration works.
  struct way {
    std::uint32_t flags = 0;                  ///< a bit for each flag term that is 1
    std::vector<std::int16_t> thousandths{};  ///< the factor, less 1, at each node of the grid

    friend bool operator==(const way&, const way&) = default;
  };

  /// No corrections: all factors are 1.
  cost_corrections() = default;
  /// @param ranges      the ranges of the sizes
  /// @param flag_terms  a bit for each term that is either 0 or 1
  /// @param ways        the ways of each configuration; each has as many numbers as the grid has
  /// nodes
  cost_corrections(std::span<const size_range> ranges, std::uint32_t flag_terms,
                   std::vector<std::vector<way>> ways);

  /// True if all factors are 1.
  bool empty() const noexcept { return ways_.empty(); }
  /// The ways of each configuration.
  const std::vector<std::vector<way>>& ways() const noexcept { return ways_; }
  /// A bit for each term that distinguishes ways.
  std::uint32_t flag_terms() const noexcept { return flag_terms_; }
  /// Exchanges the ways of two configurations, given their places.
  void exchange(std::size_t one, std::size_t other);

  /// The corrections at sizes.
  class at_sizes {
   public:
    /// @param all   has to outlive this object
    /// @param cell  the grid's nodes around the sizes
    at_sizes(const cost_corrections& all, const size_grid::cell& cell) : all_(all), cell_(cell) {}
    /// Returns the factor of the configuration at this place; 1 for an unknown way.
    double operator()(std::size_t place, const cost_terms& terms) const noexcept;

   private:
    const cost_corrections& all_;
    size_grid::cell cell_;
  };
  /// Returns the corrections at these sizes, one for each range. Allocates nothing.
  at_sizes at(std::span<const double> sizes) const noexcept { return {*this, grid_.find(sizes)}; }
  /// Returns the corrections at these whole sizes.
  at_sizes at(std::span<const std::uint64_t> sizes) const noexcept {
    std::array<double, most_ranges> numbers{};
    const std::size_t count = std::min(sizes.size(), numbers.size());
    for (std::size_t d = 0; d < count; ++d) numbers[d] = static_cast<double>(sizes[d]);
    return at(std::span<const double>(numbers).first(count));
  }

  friend bool operator==(const cost_corrections& a, const cost_corrections& b) {
    return a.flag_terms_ == b.flag_terms_ && a.ways_ == b.ways_;
  }

 private:
  size_grid grid_;
  std::uint32_t flag_terms_ = 0;
  std::vector<std::vector<way>> ways_;  // by place
};

/// Fits corrections by Gaussian processes (Rasmussen and Williams, 2006): for each configuration,
/// one process for the logarithm of its measured over its predicted times, as a function of the
/// logarithms of sizes and of its way.
/// @param ranges   the ranges of the sizes
/// @param sizes    the sizes of each sample, one for each range
/// @param samples  of each configuration, as many as there are sizes; infinite times are ignored
/// @param factors  the factors of each configuration, fitted to the samples
cost_corrections fit_corrections(std::span<const size_range> ranges,
                                 std::span<const std::vector<double>> sizes,
                                 std::span<const cost_samples> samples,
                                 std::span<const cost_factors> factors);

}  // namespace tune
