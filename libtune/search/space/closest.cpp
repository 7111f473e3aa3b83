// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// The configuration that is closest to a point.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <unordered_map>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/search/space/decision_diagram.hpp"
#include "libtune/search/space/neighbours.hpp"

namespace tune {
namespace {

/// Branch and bound in one group; the groups' distances only add up. A candidate costs what
/// it adds to the distance of the nearest one: that stays exact for points that are far outside.
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
    // No path from here that was not better at a smaller distance is better at a larger one.
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

/// The valid choice with the least sum of squared differences from a point. There is at least one.
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
