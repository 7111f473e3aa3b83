// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/space/neighbours.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <utility>

#include "libtune/search/space/decision_diagram.hpp"

namespace tune {
namespace {

using detail::decision_diagram;
using detail::valid_configurations;

/// The edges whose candidate is this one or directly beside it.
std::span<const decision_diagram::edge> edges_beside(std::span<const decision_diagram::edge> edges,
                                                     std::size_t candidate) noexcept {
  const std::size_t least = candidate == 0 ? 0 : candidate - 1;
  const auto first = std::ranges::lower_bound(edges, least, {}, &decision_diagram::edge::candidate);
  const auto last =
      std::ranges::upper_bound(edges, candidate + 1, {}, &decision_diagram::edge::candidate);
  return {first, last};
}

/// Goes down to the neighbours of one choice only, in their order.
class neighbour_walk {
 public:
  neighbour_walk(const search_space& space, std::size_t index, neighbourhood kind)
      : centre_(space.choice(index)), index_(index), kind_(kind), walk_(space.valid()) {}

  std::vector<std::size_t> run() {
    visit(false);
    return std::move(found_);
  }

 private:
  void visit(bool differs) {
    if (walk_.done()) {
      if (walk_.number() != index_) found_.push_back(walk_.number());
      return;
    }
    const std::size_t own = centre_[walk_.parameter()];
    if (kind_ == neighbourhood::hamming && differs) {
      if (const auto* same = walk_.find(own)) enter(*same, true);
      return;
    }
    const bool near = kind_ == neighbourhood::adjacent;
    for (const auto& item : near ? edges_beside(walk_.edges(), own) : walk_.edges()) {
      enter(item, differs || item.candidate != own);
    }
  }

  void enter(const decision_diagram::edge& chosen, bool differs) {
    const auto before = walk_.enter(chosen);
    visit(differs);
    walk_.go_back(before);
  }

  std::vector<std::size_t> centre_;
  std::size_t index_;
  neighbourhood kind_;
  detail::configuration_walk walk_;
  std::vector<std::size_t> found_;
};

/// The valid configurations around one of them, in which every candidate is the same or beside it:
/// counted and found by number, never listed. The valid configurations outlive it.
class adjacent_configurations {
 public:
  adjacent_configurations(const valid_configurations& valid, std::vector<std::size_t> centre)
      : valid_(valid), centre_(std::move(centre)) {
    for (auto& parameters : valid.groups()) groups_.push_back({std::move(parameters), {}});
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      size_ *= count(groups_[g], 0, valid.roots()[g]);
    }
    --size_;
    centre_place_ = place_of_centre();
  }

  /// The number of configurations besides the centre.
  std::size_t size() const noexcept { return size_; }

  /// The number of one of them. i is below size(), and different i give different ones, in no
  /// meaningful order.
  std::size_t number(std::size_t i) const {
    if (i >= centre_place_) ++i;
    std::vector<std::size_t> choice(centre_.size());
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      const std::size_t own = count_below(groups_[g], valid_.roots()[g]);
      choose(g, i % own, choice);
      i /= own;
    }
    return *valid_.number(choice);
  }

 private:
  struct group {
    std::vector<std::size_t> parameters;
    std::unordered_map<decision_diagram::node, std::size_t> counts;  // near the centre, below nodes
  };

  std::span<const decision_diagram::edge> edges(decision_diagram::node at,
                                                std::size_t parameter) const {
    return edges_beside(valid_.diagram().edges(at), centre_[parameter]);
  }

  std::size_t count(group& of, std::size_t depth, decision_diagram::node at) {
    if (at == decision_diagram::end) return 1;
    if (const auto known = of.counts.find(at); known != of.counts.end()) return known->second;
    std::size_t sum = 0;
    for (const auto& item : edges(at, of.parameters[depth])) sum += count(of, depth + 1, item.to);
    of.counts.emplace(at, sum);
    return sum;
  }
  std::size_t count_below(const group& of, decision_diagram::node at) const {
    return at == decision_diagram::end ? 1 : of.counts.at(at);
  }

  void choose(std::size_t g, std::size_t i, std::vector<std::size_t>& choice) const {
    decision_diagram::node at = valid_.roots()[g];
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
  std::size_t place_of_centre() const {
    std::size_t place = 0;
    for (std::size_t g = groups_.size(); g-- > 0;) {
      std::size_t own = 0;
      decision_diagram::node at = valid_.roots()[g];
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

  const valid_configurations& valid_;
  std::vector<std::size_t> centre_;
  std::vector<group> groups_;
  std::size_t size_ = 1;
  std::size_t centre_place_ = 0;
};

// Takes count numbers below size in random order and gives what they stand for.
template <class Function>
std::vector<std::size_t> draw(std::size_t size, std::size_t count, detail::random_source& random,
                              Function number_of) {
  std::vector<std::size_t> drawn;
  if (size == 0) return drawn;
  if (count == 1) return {number_of(random.below(size))};
  detail::random_order order(size, random.below(std::numeric_limits<std::uint64_t>::max()));
  for (count = std::min(count, size); drawn.size() < count;) {
    drawn.push_back(number_of(*order.next()));
  }
  return drawn;
}

template <class Item>
void shuffle(std::vector<Item>& items, detail::random_source& random) {
  for (std::size_t i = 0; i + 1 < items.size(); ++i) {
    std::swap(items[i], items[i + random.below(items.size() - i)]);
  }
}

}  // namespace

std::vector<std::size_t> neighbours(const search_space& space, std::size_t index,
                                    neighbourhood kind) {
  return neighbour_walk(space, index, kind).run();
}

std::vector<std::size_t> sample_neighbours(const search_space& space, std::size_t index,
                                           neighbourhood kind, std::size_t count,
                                           detail::random_source& random) {
  if (kind == neighbourhood::hamming) {
    const std::vector<std::size_t> all = neighbours(space, index, kind);
    return draw(all.size(), count, random, [&](std::size_t i) { return all[i]; });
  }
  const adjacent_configurations around(space.valid(), space.choice(index));
  return draw(around.size(), count, random, [&](std::size_t i) { return around.number(i); });
}

std::optional<std::size_t> random_neighbour(const search_space& space, std::size_t index,
                                            neighbourhood kind, detail::random_source& random) {
  const auto drawn = sample_neighbours(space, index, kind, 1, random);
  return drawn.empty() ? std::nullopt : std::optional(drawn.front());
}

namespace detail {

std::vector<std::size_t> neighbours_by_turns(const search_space& space, std::size_t index,
                                             random_source& random) {
  const std::vector<std::size_t> own = space.choice(index);
  std::vector<std::vector<std::size_t>> by_parameter(own.size());
  for (const std::size_t near : neighbours(space, index, neighbourhood::hamming)) {
    const std::vector<std::size_t> other = space.choice(near);
    const auto differing = std::ranges::mismatch(own, other).in1;
    by_parameter[static_cast<std::size_t>(differing - own.begin())].push_back(near);
  }
  std::size_t most = 0;
  for (auto& part : by_parameter) {
    shuffle(part, random);
    most = std::max(most, part.size());
  }
  std::vector<std::size_t> all;
  std::vector<std::size_t> turn;
  for (std::size_t i = 0; i < most; ++i) {
    turn.clear();
    for (const auto& part : by_parameter) {
      if (i < part.size()) turn.push_back(part[i]);
    }
    shuffle(turn, random);
    all.insert(all.end(), turn.begin(), turn.end());
  }
  return all;
}

}  // namespace detail
}  // namespace tune
