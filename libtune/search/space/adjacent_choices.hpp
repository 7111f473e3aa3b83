// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <unordered_map>
#include <vector>

#include "libtune/search/space/allowed_choices.hpp"

namespace tune::detail {

/// The edges whose candidate is this one or directly beside it.
std::span<const choice_graph::edge> edges_beside(std::span<const choice_graph::edge> edges,
                                                 std::size_t candidate) noexcept;

/// The allowed choices around one of them, in which every candidate is the same or beside it:
/// counted and found by number, never listed. Used by one thread; the allowed choices outlive it.
class adjacent_choices {
 public:
  adjacent_choices(const allowed_choices& allowed, std::vector<std::size_t> centre);

  /// How many there are besides the centre.
  std::size_t size() const noexcept { return size_; }
  /// The number among the allowed choices of one of them. i is below size(), and different i give
  /// different ones, in no order that means anything.
  std::size_t number(std::size_t i) const;

 private:
  struct group {
    std::vector<std::size_t> parameters;
    std::unordered_map<choice_graph::node, std::size_t> counts;  // around the centre, below nodes
  };

  std::span<const choice_graph::edge> edges(choice_graph::node at, std::size_t parameter) const;
  std::size_t count(group& of, std::size_t depth, choice_graph::node at);
  std::size_t count_below(const group& of, choice_graph::node at) const;
  void choose(std::size_t group, std::size_t i, std::vector<std::size_t>& choice) const;
  std::size_t place_of_centre() const;

  const allowed_choices& allowed_;
  std::vector<std::size_t> centre_;
  std::vector<group> groups_;
  std::size_t size_ = 1;
  std::size_t centre_place_ = 0;
};

}  // namespace tune::detail
