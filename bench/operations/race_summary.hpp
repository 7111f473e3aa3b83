// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The results of races between the choices of a portfolio and all configurations.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace bench {

/// The results of races: each ratio is the time of the best over that of the chosen configuration.
struct race_summary {
  race_summary(const std::vector<double>& ratios, double stated_loss) : sorted(ratios) {
    double logs = 0;
    std::size_t covered = 0;
    for (const double ratio : ratios) {
      logs += std::log(std::max(ratio, 1e-3));
      covered += 1 / ratio - 1 <= stated_loss ? 1 : 0;
    }
    const auto count = static_cast<double>(std::max<std::size_t>(ratios.size(), 1));
    mean = std::exp(logs / count);
    within_loss = static_cast<double>(covered) / count;
    std::ranges::sort(sorted);
  }

  double at_share(double share) const {
    return sorted.empty()
               ? 0.0
               : sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1))];
  }

  std::vector<double> sorted;
  double mean = 0;         ///< geometric
  double within_loss = 0;  ///< the part of the sizes that lose no more than is stated
};

}  // namespace bench
