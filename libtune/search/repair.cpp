// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/repair.hpp"

#include "libtune/search/neighbours.hpp"

namespace tune::detail {

std::optional<std::size_t> untried_near(const search_space& space, std::span<const double> point,
                                        const std::function<bool(std::size_t)>& tried,
                                        random_source& random) {
  constexpr int most_steps = 8;
  std::optional<std::size_t> at = closest(space, point);
  for (int step = 0; step < most_steps && at && tried(*at); ++step) {
    at = random_neighbour(space, *at, neighbourhood::hamming, random);
  }
  return at && !tried(*at) ? at : std::nullopt;
}

}  // namespace tune::detail
