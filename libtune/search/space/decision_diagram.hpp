// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "libtune/base/cxx20.hpp"

namespace tune::detail {

/// A multi-valued decision diagram (MDD): sets of choices as an acyclic graph. An edge chooses a
/// candidate for one parameter, and leads to the choices for the next ones; each path down to end
/// is one choice. Equal continuations share a node, so that sets are stored and counted without
/// listing them. Const functions are thread-safe.
class decision_diagram {
 public:
  using node = std::uint32_t;
  static constexpr node none = 0;  ///< no choice
  static constexpr node end = 1;   ///< all parameters are chosen: one choice

  struct edge {
    std::uint32_t candidate = 0;
    node to = none;
    std::size_t before = 0;  ///< the number of choices through the edges before this one
  };

  decision_diagram();

  /// Returns the node with these edges, which ascend by candidate and do not lead to none; `before`
  /// is set here. Equal edges give the same node.
  node add(std::span<const edge> edges);
  /// Frees the memory that only add() needs; do not call add() afterwards.
  void finish();

  std::size_t count(node at) const noexcept { return counts_[at]; }
  std::span<const edge> edges(node at) const noexcept {
    return std::span(edges_).subspan(first_[at], first_[at + 1] - first_[at]);
  }
  /// The edge with this candidate, or nullptr.
  const edge* find(node at, std::size_t candidate) const noexcept;
  /// The edge on the path to a choice, given its number, which is below count(at).
  const edge& find_number(node at, std::size_t number) const noexcept;

  std::size_t edge_count() const noexcept { return edges_.size(); }

 private:
  bool is_equal(node at, std::span<const edge> edges) const noexcept;
  std::size_t slot_of(std::span<const edge> edges) const noexcept;
  node append(std::span<const edge> edges);
  void grow();

  std::vector<edge> edges_;
  std::vector<std::size_t> first_{0, 0, 0};  // of a node's edges, which end where the next node's
                                             // begin
  std::vector<std::size_t> counts_{0, 1};
  std::vector<node> slots_;  // a hash table of all nodes; none marks free slots
};

/// The valid configurations of a space, each a choice of a candidate for every parameter, numbered
/// in the order of nested loops, the last parameter innermost. Unconnected parameters, without
/// common restrictions, are in different groups. Each group has its own diagram; its choices
/// combine with all choices of the others. Thread-safe.
class valid_configurations {
 public:
  /// @param diagram   holds the nodes of all groups
  /// @param group_of  the group of each parameter
  /// @param roots     the root of each group's diagram, which takes its parameters in their order
  valid_configurations(decision_diagram diagram, std::vector<std::size_t> group_of,
                       std::vector<decision_diagram::node> roots);

  std::size_t size() const noexcept { return size_; }

  /// The choice of a number below size().
  std::vector<std::size_t> choice(std::size_t number) const;
  /// The number of a choice, which has a candidate for each parameter; empty if it is not valid.
  std::optional<std::size_t> number(std::span<const std::size_t> choice) const;

  const decision_diagram& diagram() const noexcept { return diagram_; }
  const std::vector<std::size_t>& group_of() const noexcept { return group_of_; }
  const std::vector<decision_diagram::node>& roots() const noexcept { return roots_; }
  /// The parameters of each group, ascending.
  std::vector<std::vector<std::size_t>> groups() const;

 private:
  decision_diagram diagram_;
  std::vector<std::size_t> group_of_;
  std::vector<decision_diagram::node> roots_;
  std::size_t size_ = 1;
};

/// A walk through all parameters in their order, one candidate at a time.
class configuration_walk {
 public:
  using edge = decision_diagram::edge;

  /// Requires at least one valid configuration; valid has to outlive the walk.
  explicit configuration_walk(const valid_configurations& valid);

  bool done() const noexcept { return depth_ == valid_->group_of().size(); }
  /// The next parameter to choose a candidate for.
  std::size_t parameter() const noexcept { return depth_; }
  std::span<const edge> edges() const noexcept { return valid_->diagram().edges(here()); }
  /// The edge to a candidate, or nullptr; and the edge to the configuration of this number.
  const edge* find(std::size_t candidate) const noexcept;
  const edge& find_number(std::size_t number) const noexcept;

  /// A position of the walk to return to.
  struct place {
    decision_diagram::node node;
    std::size_t left;
    std::size_t number;
  };
  place enter(const edge& chosen) noexcept;
  void go_back(const place& before) noexcept;

  /// The number of the first configuration below this position.
  std::size_t number() const noexcept { return number_; }

 private:
  decision_diagram::node here() const noexcept { return nodes_[valid_->group_of()[depth_]]; }

  const valid_configurations* valid_;
  std::vector<decision_diagram::node> nodes_;  // one for each group
  std::size_t depth_ = 0;
  std::size_t left_;  // configurations below this position
  std::size_t number_ = 0;
};

}  // namespace tune::detail
