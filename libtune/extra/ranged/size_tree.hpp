// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// The choice of a configuration by sizes: a binary tree of comparisons of one coordinate with a
/// number. Shared by tuning, lookups and checks. Immutable, so thread-safe.
class size_tree {
 public:
  /// A leaf, which chooses, or a comparison.
  struct node {
    double threshold = 0;         ///< coordinates up to it lead to below, others to above
    std::int32_t coordinate = 0;  ///< negative: a leaf
    std::uint32_t below = 0;      ///< the next node; in a leaf the choice
    std::uint32_t above = 0;      ///< the next node
  };

  /// The tree that always chooses 0.
  size_tree() : nodes_{{.threshold = 0, .coordinate = -1}} {}
  /// @param nodes  the first is the root; each node comes after those that lead to it
  /// @throws argument_error if the nodes do not form a tree
  explicit size_tree(std::vector<node> nodes);

  /// Returns the choice for a point. Missing coordinates count as 0. Allocates nothing.
  std::uint32_t choose(std::span<const double> point) const noexcept {
    return nodes_[leaf(point)].below;
  }
  /// Returns the number of the leaf for a point, among all nodes.
  std::size_t leaf(std::span<const double> point) const noexcept {
    std::size_t at = 0;
    while (nodes_[at].coordinate >= 0) {
      const node& here = nodes_[at];
      const auto coordinate = static_cast<std::size_t>(here.coordinate);
      const double value = coordinate < point.size() ? point[coordinate] : 0;
      at = value <= here.threshold ? here.below : here.above;
    }
    return at;
  }

  /// All nodes, the root first.
  const std::vector<node>& nodes() const noexcept { return nodes_; }
  /// The number of leaves.
  std::size_t leaves() const noexcept;
  /// Returns the tree with another choice in one leaf.
  size_tree with_choice(std::size_t leaf, std::uint32_t choice) const;

 private:
  std::vector<node> nodes_;
};

}  // namespace tune
