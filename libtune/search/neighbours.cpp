// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/neighbours.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <utility>

#include "libtune/base/error.hpp"

namespace tune {
namespace {

std::vector<std::size_t> hamming_neighbours(const search_space& space, std::size_t index) {
  std::vector<std::size_t> found;
  std::vector<std::size_t> choice = space.choice(index);
  for (std::size_t i = 0; i < choice.size(); ++i) {
    const std::size_t own = choice[i];
    for (std::size_t other = 0; other < space.parameters()[i].candidates.size(); ++other) {
      if (other == own) continue;
      choice[i] = other;
      if (const auto number = space.index_of(choice)) found.push_back(*number);
    }
    choice[i] = own;
  }
  std::ranges::sort(found);
  return found;
}

std::vector<std::size_t> adjacent_neighbours(const search_space& space, std::size_t index) {
  const std::vector<std::size_t> centre = space.choice(index);
  std::vector<std::size_t> found;
  std::vector<std::size_t> choice = centre;
  const auto visit = [&](const auto& self, std::size_t depth) -> void {
    if (depth == choice.size()) {
      const auto number = space.index_of(choice);
      if (number && *number != index) found.push_back(*number);
      return;
    }
    const std::size_t first = centre[depth] == 0 ? 0 : centre[depth] - 1;
    const std::size_t last =
        std::min(centre[depth] + 1, space.parameters()[depth].candidates.size() - 1);
    for (choice[depth] = first; choice[depth] <= last; ++choice[depth]) self(self, depth + 1);
  };
  visit(visit, 0);
  return found;
}

}  // namespace

std::vector<std::size_t> neighbours(const search_space& space, std::size_t index,
                                    neighbourhood kind) {
  return kind == neighbourhood::hamming ? hamming_neighbours(space, index)
                                        : adjacent_neighbours(space, index);
}

std::vector<std::size_t> sample_neighbours(const search_space& space, std::size_t index,
                                           neighbourhood kind, std::size_t count,
                                           detail::random_source& random) {
  std::vector<std::size_t> all = neighbours(space, index, kind);
  count = std::min(count, all.size());
  for (std::size_t i = 0; i < count; ++i) {
    std::swap(all[i], all[i + random.below(all.size() - i)]);
  }
  all.resize(count);
  return all;
}

std::optional<std::size_t> random_neighbour(const search_space& space, std::size_t index,
                                            neighbourhood kind, detail::random_source& random) {
  const auto drawn = sample_neighbours(space, index, kind, 1, random);
  return drawn.empty() ? std::nullopt : std::optional(drawn.front());
}

std::optional<std::size_t> closest(const search_space& space, std::span<const double> point) {
  if (point.size() != space.parameters().size()) {
    throw argument_error(fmt::format("a point of {} numbers for a space of {} parameters",
                                     point.size(), space.parameters().size()));
  }
  for (std::size_t i = 0; i < point.size(); ++i) {
    if (std::isfinite(point[i])) continue;
    throw argument_error(fmt::format("the point has {} for the parameter '{}'", point[i],
                                     space.parameters()[i].name));
  }
  std::optional<std::size_t> best;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t index = 0; index < space.size(); ++index) {
    const std::vector<std::size_t> choice = space.choice(index);
    double distance = 0;
    for (std::size_t i = 0; i < choice.size(); ++i) {
      const double off = static_cast<double>(choice[i]) - point[i];
      distance += off * off;
    }
    if (distance < least) {
      least = distance;
      best = index;
    }
  }
  return best;
}

}  // namespace tune
