// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/space/adjacent_choices.hpp"

#include <algorithm>
#include <utility>

namespace tune::detail {

std::span<const choice_graph::edge> edges_beside(std::span<const choice_graph::edge> edges,
                                                 std::size_t candidate) noexcept {
  const std::size_t least = candidate == 0 ? 0 : candidate - 1;
  const auto first = std::ranges::lower_bound(edges, least, {}, &choice_graph::edge::candidate);
  const auto last =
      std::ranges::upper_bound(edges, candidate + 1, {}, &choice_graph::edge::candidate);
  return {first, last};
}

adjacent_choices::adjacent_choices(const allowed_choices& allowed, std::vector<std::size_t> centre)
    : allowed_(allowed), centre_(std::move(centre)), groups_(allowed.roots().size()) {
  for (std::size_t i = 0; i < centre_.size(); ++i) {
    groups_[allowed.group_of()[i]].parameters.push_back(i);
  }
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    size_ *= count(groups_[i], 0, allowed.roots()[i]);
  }
  --size_;
  centre_place_ = place_of_centre();
}

std::size_t adjacent_choices::number(std::size_t i) const {
  if (i >= centre_place_) ++i;
  std::vector<std::size_t> choice(centre_.size());
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const std::size_t own = count_below(groups_[g], allowed_.roots()[g]);
    choose(g, i % own, choice);
    i /= own;
  }
  return *allowed_.number(choice);
}

std::span<const choice_graph::edge> adjacent_choices::edges(choice_graph::node at,
                                                            std::size_t parameter) const {
  return edges_beside(allowed_.graph().edges(at), centre_[parameter]);
}

std::size_t adjacent_choices::count(group& of, std::size_t depth, choice_graph::node at) {
  if (at == choice_graph::end) return 1;
  if (const auto known = of.counts.find(at); known != of.counts.end()) return known->second;
  std::size_t sum = 0;
  for (const auto& item : edges(at, of.parameters[depth])) sum += count(of, depth + 1, item.to);
  of.counts.emplace(at, sum);
  return sum;
}

std::size_t adjacent_choices::count_below(const group& of, choice_graph::node at) const {
  return at == choice_graph::end ? 1 : of.counts.at(at);
}

void adjacent_choices::choose(std::size_t g, std::size_t i,
                              std::vector<std::size_t>& choice) const {
  choice_graph::node at = allowed_.roots()[g];
  for (const std::size_t parameter : groups_[g].parameters) {
    for (const auto& item : edges(at, parameter)) {
      const std::size_t below = count_below(groups_[g], item.to);
      if (i < below) {
        choice[parameter] = item.candidate;
        at = item.to;
        break;
      }
      i -= below;
    }
  }
}

// The inverse of choose for all groups.
std::size_t adjacent_choices::place_of_centre() const {
  std::size_t place = 0;
  for (std::size_t g = groups_.size(); g-- > 0;) {
    std::size_t own = 0;
    choice_graph::node at = allowed_.roots()[g];
    place *= count_below(groups_[g], at);
    for (const std::size_t parameter : groups_[g].parameters) {
      for (const auto& item : edges(at, parameter)) {
        if (item.candidate == centre_[parameter]) {
          at = item.to;
          break;
        }
        own += count_below(groups_[g], item.to);
      }
    }
    place += own;
  }
  return place;
}

}  // namespace tune::detail
