// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/behind/usage_queue.hpp"

#include <algorithm>
#include <utility>

namespace tune::detail {

void usage_queue::ask(const std::string& name, double gain) {
  const auto known = std::ranges::find(names_, name, &entry::name);
  entry& of = known != names_.end() ? *known : names_.emplace_back(entry{.name = name});
  of.asked += 1;
  of.gain = gain;
}

std::optional<std::string> usage_queue::next() {
  const auto best = std::ranges::max_element(
      names_, {}, [](const entry& item) { return item.asked * item.gain; });
  if (best == names_.end()) return std::nullopt;
  std::string name = std::move(best->name);
  names_.erase(best);
  return name;
}

}  // namespace tune::detail
