// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/neighbours.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <limits>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/search/adjacent_choices.hpp"
#include "libtune/search/allowed_choices.hpp"
#include "libtune/search/closest_choice.hpp"
#include "libtune/search/random_order.hpp"

namespace tune {
namespace {

/// Goes down to the neighbours of one choice only, in their order.
class neighbour_walk {
 public:
  neighbour_walk(const search_space& space, std::size_t index, neighbourhood kind)
      : centre_(space.choice(index)), index_(index), kind_(kind), walk_(space.allowed()) {}

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
    for (const auto& item : near ? detail::edges_beside(walk_.edges(), own) : walk_.edges()) {
      enter(item, differs || item.candidate != own);
    }
  }

  void enter(const detail::choice_graph::edge& chosen, bool differs) {
    const auto before = walk_.enter(chosen);
    visit(differs);
    walk_.go_back(before);
  }

  std::vector<std::size_t> centre_;
  std::size_t index_;
  neighbourhood kind_;
  detail::choice_walk walk_;
  std::vector<std::size_t> found_;
};

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
  const detail::adjacent_choices around(space.allowed(), space.choice(index));
  return draw(around.size(), count, random, [&](std::size_t i) { return around.number(i); });
}

std::optional<std::size_t> random_neighbour(const search_space& space, std::size_t index,
                                            neighbourhood kind, detail::random_source& random) {
  const auto drawn = sample_neighbours(space, index, kind, 1, random);
  return drawn.empty() ? std::nullopt : std::optional(drawn.front());
}

std::optional<std::size_t> closest(const search_space& space, std::span<const double> point) {
  check_point(space, point);
  const detail::allowed_choices& allowed = space.allowed();
  if (allowed.size() == 0) return std::nullopt;
  return allowed.number(detail::closest_choice(space.parameters(), allowed, point));
}

}  // namespace tune
