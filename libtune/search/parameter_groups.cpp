// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/parameter_groups.hpp"

#include <algorithm>
#include <numeric>

namespace tune::detail {
namespace {

// Each parameter points to a smaller one of its group, the smallest to itself.
class disjoint_sets {
 public:
  explicit disjoint_sets(std::size_t size) : parents_(size) {
    std::iota(parents_.begin(), parents_.end(), std::size_t{0});
  }

  std::size_t first(std::size_t item) const {
    while (parents_[item] != item) item = parents_[item];
    return item;
  }
  void join(std::size_t a, std::size_t b) {
    a = first(a);
    b = first(b);
    parents_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::vector<std::size_t> parents_;
};

}  // namespace

std::vector<parameter_group> group_parameters(std::size_t parameters,
                                              std::span<const restriction_outline> restrictions) {
  disjoint_sets sets(parameters);
  for (const restriction_outline& item : restrictions) {
    if (item.reads) {
      for (const std::size_t read : *item.reads) sets.join(read, item.reads->front());
    } else {
      for (std::size_t i = 1; i < parameters; ++i) sets.join(i, 0);
    }
  }
  std::vector<parameter_group> groups;
  std::vector<std::size_t> group_of(parameters);
  for (std::size_t i = 0; i < parameters; ++i) {
    const std::size_t first = sets.first(i);
    if (first == i) groups.emplace_back();
    group_of[i] = first == i ? groups.size() - 1 : group_of[first];
    groups[group_of[i]].parameters.push_back(i);
  }
  for (const std::size_t i : asking_order(parameters, restrictions)) {
    const std::size_t depth = depth_of(restrictions[i], parameters);
    if (depth > 0) groups[group_of[depth - 1]].restrictions.push_back(i);
  }
  return groups;
}

std::size_t depth_of(const restriction_outline& restriction, std::size_t parameters) {
  if (!restriction.reads) return parameters;
  std::size_t depth = 0;
  for (const std::size_t read : *restriction.reads) depth = std::max(depth, read + 1);
  return depth;
}

std::vector<std::size_t> asking_order(std::size_t parameters,
                                      std::span<const restriction_outline> restrictions) {
  std::vector<std::size_t> order(restrictions.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {},
                           [&](std::size_t i) { return depth_of(restrictions[i], parameters); });
  return order;
}

}  // namespace tune::detail
