// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/neighbours_by_turns.hpp"

#include <algorithm>
#include <utility>

#include "libtune/search/neighbours.hpp"

namespace tune::detail {
namespace {

template <class Item>
void shuffle(std::vector<Item>& items, random_source& random) {
  for (std::size_t i = 0; i + 1 < items.size(); ++i) {
    std::swap(items[i], items[i + random.below(items.size() - i)]);
  }
}

}  // namespace

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

}  // namespace tune::detail
