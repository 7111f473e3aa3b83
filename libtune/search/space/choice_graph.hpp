// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libtune/base/cxx20.hpp"

namespace tune::detail {

/// Sets of choices as a graph without cycles: a multi-valued decision diagram. An edge chooses a
/// candidate for one parameter, its end says what may be chosen for the next ones; each way down to
/// end is one choice. What can go on in the same way is one node, so that sets are kept, and
/// counted, without listing them. Const functions are thread-safe.
class choice_graph {
 public:
  using node = std::uint32_t;
  static constexpr node none = 0;  ///< no choice at all
  static constexpr node end = 1;   ///< nothing left to choose, which is one choice

  struct edge {
    std::uint32_t candidate = 0;
    node to = none;
    std::size_t before = 0;  ///< choices through the edges before this one
  };

  choice_graph();

  /// The node with these edges, which ascend by candidate and do not lead to none; `before` is
  /// filled in here. Equal edges give the same node.
  node add(std::span<const edge> edges);
  /// Frees what only add needs; it must not be called afterwards.
  void finish();

  std::size_t count(node at) const noexcept { return counts_[at]; }
  std::span<const edge> edges(node at) const noexcept {
    return std::span(edges_).subspan(first_[at], first_[at + 1] - first_[at]);
  }
  /// The edge with this candidate, or nullptr.
  const edge* find(node at, std::size_t candidate) const noexcept;
  /// The edge on the way to a choice. number is below count(at).
  const edge& find_number(node at, std::size_t number) const noexcept;

  std::size_t edge_count() const noexcept { return edges_.size(); }

 private:
  bool is_equal(node at, std::span<const edge> edges) const noexcept;
  std::size_t slot_of(std::span<const edge> edges) const noexcept;
  node append(std::span<const edge> edges);
  void grow();

  std::vector<edge> edges_;
  std::vector<std::size_t> first_{0, 0, 0};  // of a node's edges; the next one's is past its last
  std::vector<std::size_t> counts_{0, 1};
  std::vector<node> slots_;  // a hash table of all nodes; none where free
};

}  // namespace tune::detail
