// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "libtune/search/space/search_space.hpp"

namespace tune::testing {

/// A parameter with the candidates 0, 1, ... count - 1.
inline parameter counting(std::string name, std::int64_t count) {
  parameter made{std::move(name), {}};
  for (std::int64_t i = 0; i < count; ++i) made.candidates.emplace_back(i);
  return made;
}

/// size configurations of one parameter.
inline search_space line(std::int64_t size) { return search_space({counting("x", size)}); }

/// 5 x 4 x 3 combinations, of which the 30 with an even sum are allowed.
inline search_space even_sums() {
  return search_space({counting("a", 5), counting("b", 4), counting("c", 3)},
                      {{"the sum is even", [](std::span<const std::size_t> choice) {
                          return (choice[0] + choice[1] + choice[2]) % 2 == 0;
                        }}});
}

/// A space whose restriction forbids everything.
inline search_space empty_space() {
  return search_space({counting("x", 3)},
                      {{"nothing", [](std::span<const std::size_t>) { return false; }}});
}

}  // namespace tune::testing
