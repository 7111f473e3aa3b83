// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/model/loss_bound.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace tune {

double loss_bound(std::vector<double> losses, double probability) {
  const auto rank =
      static_cast<std::size_t>(std::ceil(probability * static_cast<double>(losses.size() + 1)));
  if (rank > losses.size()) return std::numeric_limits<double>::infinity();
  std::ranges::sort(losses);
  return losses[rank - 1];
}

}  // namespace tune
