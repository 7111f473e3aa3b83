// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "libtune/extra/ranged/portfolio_fit.hpp"
#include "libtune/extra/ranged/size_times.hpp"

namespace tune {

/// The costs of all configurations at all samples: the weighted losses, and a large finite number
/// for a configuration that fails.
class sample_costs {
 public:
  /// The smallest useful gain, in losses of samples of mean weight; less is noise.
  static constexpr double least_gain = 0.01;

  /// @param bound  as in portfolio_limits::loss
  sample_costs(const size_times& times, double bound);

  std::size_t samples() const { return rows_.size(); }
  std::size_t configurations() const { return rows_.front().size(); }
  double at(std::size_t sample, std::size_t configuration) const {
    return rows_[sample][configuration];
  }

 private:
  std::vector<std::vector<double>> rows_;
};

/// Chooses at most this many configurations, see most_useful of size_times.
std::vector<std::size_t> most_useful(const sample_costs& all, std::size_t most,
                                     const kept_configuration& kept);

}  // namespace tune
