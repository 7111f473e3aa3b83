// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "libtune/search/space/choice_graph.hpp"

namespace tune::detail {

/// The choices that are allowed, a candidate for each parameter, numbered in the order of nested
/// loops, the last parameter innermost. Parameters that no restriction connects are in different
/// groups, each with a graph of its own: any of its choices goes with any of the others'.
/// Thread-safe.
class allowed_choices {
 public:
  /// @param graph     holds the graphs of all groups
  /// @param group_of  for each parameter
  /// @param roots     for each group; its graph takes its parameters in their order
  allowed_choices(choice_graph graph, std::vector<std::size_t> group_of,
                  std::vector<choice_graph::node> roots);

  std::size_t size() const noexcept { return size_; }

  /// number is below size().
  std::vector<std::size_t> choice(std::size_t number) const;
  /// Empty if it is not allowed. The choice has a candidate for each parameter.
  std::optional<std::size_t> number(std::span<const std::size_t> choice) const;

  const choice_graph& graph() const noexcept { return graph_; }
  const std::vector<std::size_t>& group_of() const noexcept { return group_of_; }
  const std::vector<choice_graph::node>& roots() const noexcept { return roots_; }

 private:
  choice_graph graph_;
  std::vector<std::size_t> group_of_;
  std::vector<choice_graph::node> roots_;
  std::size_t size_;
};

/// A walk down all parameters in their order, one candidate at a time.
class choice_walk {
 public:
  using edge = choice_graph::edge;

  /// There is at least one allowed choice, and it outlives the walk.
  explicit choice_walk(const allowed_choices& allowed);

  bool done() const noexcept { return depth_ == allowed_->group_of().size(); }
  /// The next parameter to choose for.
  std::size_t parameter() const noexcept { return depth_; }
  std::span<const edge> edges() const noexcept { return allowed_->graph().edges(here()); }
  /// The edge to a candidate, or nullptr; and that to the choice of this number.
  const edge* find(std::size_t candidate) const noexcept;
  const edge& find_number(std::size_t number) const noexcept;

  /// Where it was, so that it can go back.
  struct place {
    choice_graph::node node;
    std::size_t left;
    std::size_t number;
  };
  place enter(const edge& chosen) noexcept;
  void go_back(const place& before) noexcept;

  /// The number of the first choice below.
  std::size_t number() const noexcept { return number_; }

 private:
  choice_graph::node here() const noexcept { return nodes_[allowed_->group_of()[depth_]]; }

  const allowed_choices* allowed_;
  std::vector<choice_graph::node> nodes_;  // for each group
  std::size_t depth_ = 0;
  std::size_t left_;  // choices below
  std::size_t number_ = 0;
};

}  // namespace tune::detail
