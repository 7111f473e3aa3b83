// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/shortlist.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_set>
#include <utility>

#include "libtune/base/error.hpp"

namespace tune {
namespace {

std::vector<std::size_t> without_repetitions(std::vector<std::size_t> listed) {
  std::unordered_set<std::size_t> seen;
  std::erase_if(listed, [&](std::size_t index) { return !seen.insert(index).second; });
  return listed;
}

strategy_options options_for(const std::vector<std::size_t>& listed) {
  return {.max_count = std::unordered_set<std::size_t>(listed.begin(), listed.end()).size()};
}

}  // namespace

shortlist_strategy::shortlist_strategy(search_space space, std::vector<std::size_t> listed)
    : strategy(std::move(space), options_for(listed)),
      listed_(without_repetitions(std::move(listed))) {
  for (const std::size_t index : listed_) {
    if (index < this->space().size()) continue;
    throw argument_error(
        fmt::format("configuration {} is listed of a space of {}", index, this->space().size()));
  }
}

std::optional<std::size_t> shortlist_strategy::do_ask() { return listed_[next_++]; }

}  // namespace tune
