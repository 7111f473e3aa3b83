// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/closest_choice.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

namespace tune::detail {
namespace {

/// Branch and bound in one group; the groups' distances only add up. What counts is how much more a
/// candidate costs than the nearest one: that stays exact for points that are far outside.
class closest_search {
 public:
  closest_search(std::vector<std::size_t> members, std::span<const parameter> parameters,
                 const choice_graph& graph, std::span<const double> point)
      : members_(std::move(members)), graph_(graph), chosen_(members_.size()) {
    for (const std::size_t i : members_) {
      const auto last = static_cast<double>(parameters[i].candidates.size() - 1);
      const double wanted = std::clamp(point[i], -far_outside, far_outside);
      targets_.push_back({wanted, std::clamp(std::round(wanted), 0.0, last)});
    }
  }

  void run(choice_graph::node root, std::vector<std::size_t>& choice) {
    visit(0, root, 0);
    for (std::size_t i = 0; i < members_.size(); ++i) choice[members_[i]] = best_[i];
  }

 private:
  static constexpr double far_outside = 1e100;

  struct target {
    double wanted;
    double nearest;  // candidate

    double excess(const choice_graph::edge& item) const {
      const auto given = static_cast<double>(item.candidate);
      return (given - nearest) * ((given - wanted) + (nearest - wanted));
    }
  };

  void visit(std::size_t depth, choice_graph::node at, double so_far) {
    if (depth == members_.size()) {
      least_ = so_far;
      best_ = chosen_;
      return;
    }
    // What was not better from here with less behind it will not be with more.
    const auto [seen, is_first] = reached_with_.try_emplace(at, so_far);
    if (!is_first && so_far >= seen->second) return;
    seen->second = so_far;

    // Outwards from the point, the nearer side first.
    const auto edges = graph_.edges(at);
    const target& aim = targets_[depth];
    auto up = std::ranges::lower_bound(edges, aim.wanted, {}, [](const choice_graph::edge& item) {
      return static_cast<double>(item.candidate);
    });
    auto down = up;
    while (up != edges.end() || down != edges.begin()) {
      const bool goes_down = up == edges.end() ||
                             (down != edges.begin() && aim.excess(*(down - 1)) <= aim.excess(*up));
      const choice_graph::edge& next = goes_down ? *--down : *up++;
      const double sum = so_far + aim.excess(next);
      if (sum >= least_) return;
      chosen_[depth] = next.candidate;
      visit(depth + 1, next.to, sum);
    }
  }

  std::vector<std::size_t> members_;  // the parameters
  const choice_graph& graph_;
  std::vector<target> targets_;  // by depth
  std::unordered_map<choice_graph::node, double> reached_with_;
  std::vector<std::size_t> chosen_;
  std::vector<std::size_t> best_;
  double least_ = std::numeric_limits<double>::infinity();
};

}  // namespace

std::vector<std::size_t> closest_choice(std::span<const parameter> parameters,
                                        const allowed_choices& allowed,
                                        std::span<const double> point) {
  std::vector<std::size_t> choice(parameters.size());
  std::vector<std::vector<std::size_t>> members(allowed.roots().size());
  for (std::size_t i = 0; i < parameters.size(); ++i) members[allowed.group_of()[i]].push_back(i);
  for (std::size_t i = 0; i < members.size(); ++i) {
    closest_search(std::move(members[i]), parameters, allowed.graph(), point)
        .run(allowed.roots()[i], choice);
  }
  return choice;
}

}  // namespace tune::detail
