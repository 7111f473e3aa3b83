// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/ranged/size_tree.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "libtune/base/error.hpp"

namespace tune {

size_tree::size_tree(std::vector<node> nodes) : nodes_(std::move(nodes)) {
  const auto leads_on = [&](std::size_t from, std::uint32_t to) {
    return to > from && to < nodes_.size();
  };
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const node& each = nodes_[i];
    if (each.coordinate < 0) continue;
    if (leads_on(i, each.below) && leads_on(i, each.above) && !std::isnan(each.threshold)) continue;
    throw argument_error("the nodes of a portfolio do not form a tree: node " + std::to_string(i) +
                         " has a threshold of NaN, or a successor that does not come after it");
  }
  if (nodes_.empty()) throw argument_error("the tree of a portfolio has no nodes");
}

std::size_t size_tree::leaves() const noexcept {
  const auto is_leaf = [](const node& each) { return each.coordinate < 0; };
  return static_cast<std::size_t>(std::ranges::count_if(nodes_, is_leaf));
}

size_tree size_tree::with_choice(std::size_t leaf, std::uint32_t choice) const {
  std::vector<node> nodes = nodes_;
  nodes.at(leaf).below = choice;
  return size_tree(std::move(nodes));
}

}  // namespace tune
