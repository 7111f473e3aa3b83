// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "libtune/search/strategy/strategy.hpp"

namespace tune::testing {

/// All proposals of a search, each answered at once by what answer returns.
inline std::vector<std::size_t> proposals(
    strategy& searching, const std::function<std::optional<double>(std::size_t)>& answer) {
  std::vector<std::size_t> all;
  while (const auto index = searching.ask()) {
    all.push_back(*index);
    searching.tell(*index, answer(*index));
  }
  return all;
}

}  // namespace tune::testing
