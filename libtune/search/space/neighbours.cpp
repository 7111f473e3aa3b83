// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/space/neighbours.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <limits>
#include <unordered_map>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/search/space/decision_diagram.hpp"

namespace tune {
namespace {

using detail::decision_diagram;
using detail::valid_configurations;

/// The edges with this candidate or a directly adjacent one.
std::span<const decision_diagram::edge> edges_beside(std::span<const decision_diagram::edge> edges,
                                                     std::size_t candidate) noexcept {
  const std::size_t least = candidate == 0 ? 0 : candidate - 1;
  const auto first = std::ranges::lower_bound(edges, least, {}, &decision_diagram::edge::candidate);
  const auto last =
      std::ranges::upper_bound(edges, candidate + 1, {}, &decision_diagram::edge::candidate);
  return {first, last};
}

/// Visits only the neighbours of one choice, in their order.
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

/// The valid configurations in which every candidate equals that of a given one or is adjacent to
/// it: counted and found by number, never listed. The valid configurations have to outlive it.
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

  /// The number of one of them, for i below size(). Different i give different ones, in no
  /// particular order.
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
    std::unordered_map<decision_diagram::node, std::size_t> counts;  // of configurations near the
                                                                     // centre, below nodes
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

// Draws count numbers below size in random order, and returns the configurations that they denote.
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

/// Branch and bound in one group; the groups' distances add up. The cost of a candidate is relative
/// to the nearest one: that stays exact for points that are far outside.
class closest_search {
 public:
  closest_search(std::vector<std::size_t> members, std::span<const parameter> parameters,
                 const detail::decision_diagram& diagram, std::span<const double> point)
      : members_(std::move(members)), diagram_(diagram), chosen_(members_.size()) {
    for (const std::size_t i : members_) {
      const auto last = static_cast<double>(parameters[i].candidates.size() - 1);
      const double wanted = std::clamp(point[i], -far_outside, far_outside);
      targets_.push_back({wanted, std::clamp(std::round(wanted), 0.0, last)});
    }
  }

  void run(detail::decision_diagram::node root, std::vector<std::size_t>& choice) {
    visit(0, root, 0);
    for (std::size_t i = 0; i < members_.size(); ++i) choice[members_[i]] = best_[i];
  }

 private:
  static constexpr double far_outside = 1e100;

  struct target {
    double wanted;
    double nearest;  // candidate

    double excess(const detail::decision_diagram::edge& item) const {
      const auto given = static_cast<double>(item.candidate);
      return (given - nearest) * ((given - wanted) + (nearest - wanted));
    }
  };

  void visit(std::size_t depth, detail::decision_diagram::node at, double so_far) {
    if (depth == members_.size()) {
      least_ = so_far;
      best_ = chosen_;
      return;
    }
    // No path from here that was too long at a smaller distance can succeed at a larger one.
    const auto [seen, is_first] = reached_with_.try_emplace(at, so_far);
    if (!is_first && so_far >= seen->second) return;
    seen->second = so_far;

    // Outwards from the point, the nearer side first.
    const auto edges = diagram_.edges(at);
    const target& aim = targets_[depth];
    auto up = std::ranges::lower_bound(edges, aim.wanted, {},
                                       [](const detail::decision_diagram::edge& item) {
                                         return static_cast<double>(item.candidate);
                                       });
    auto down = up;
    while (up != edges.end() || down != edges.begin()) {
      const bool goes_down = up == edges.end() ||
                             (down != edges.begin() && aim.excess(*(down - 1)) <= aim.excess(*up));
      const detail::decision_diagram::edge& next = goes_down ? *--down : *up++;
      const double sum = so_far + aim.excess(next);
      if (sum >= least_) return;
      chosen_[depth] = next.candidate;
      visit(depth + 1, next.to, sum);
    }
  }

  std::vector<std::size_t> members_;  // the parameters
  const detail::decision_diagram& diagram_;
  std::vector<target> targets_;  // by depth
  std::unordered_map<detail::decision_diagram::node, double> reached_with_;
  std::vector<std::size_t> chosen_;
  std::vector<std::size_t> best_;
  double least_ = std::numeric_limits<double>::infinity();
};

/// The valid choice with the smallest sum of squared differences from a point. At least one exists.
std::vector<std::size_t> closest_choice(std::span<const parameter> parameters,
                                        const detail::valid_configurations& valid,
                                        std::span<const double> point) {
  std::vector<std::size_t> choice(parameters.size());
  std::vector<std::vector<std::size_t>> members = valid.groups();
  for (std::size_t i = 0; i < members.size(); ++i) {
    closest_search(std::move(members[i]), parameters, valid.diagram(), point)
        .run(valid.roots()[i], choice);
  }
  return choice;
}

void check_point(const search_space& space, std::span<const double> point) {
  if (point.size() != space.parameters().size()) {
    throw argument_error(fmt::format("a point of {} numbers for a space of {} parameters",
                                     point.size(), space.parameters().size()));
  }
  for (std::size_t i = 0; i < point.size(); ++i) {
    if (std::isfinite(point[i])) continue;
    throw argument_error(fmt::format("the point has {} for the parameter '{}'", point[i],
                                     space.parameters()[i].name));
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

std::optional<std::size_t> closest(const search_space& space, std::span<const double> point) {
  check_point(space, point);
  const detail::valid_configurations& valid = space.valid();
  if (valid.size() == 0) return std::nullopt;
  return valid.number(closest_choice(space.parameters(), valid, point));
}

std::optional<std::size_t> detail::untried_near(const search_space& space,
                                                std::span<const double> point,
                                                const std::function<bool(std::size_t)>& tried,
                                                random_source& random) {
  constexpr int most_steps = 8;
  std::optional<std::size_t> at = closest(space, point);
  for (int step = 0; step < most_steps && at && tried(*at); ++step) {
    at = random_neighbour(space, *at, neighbourhood::hamming, random);
  }
  return at && !tried(*at) ? at : std::nullopt;
}

}  // namespace tune
