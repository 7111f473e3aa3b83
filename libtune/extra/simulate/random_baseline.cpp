// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/simulate/random_baseline.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "libtune/base/error.hpp"

namespace tune {
namespace {

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace

random_baseline::random_baseline(const recorded_space& space, failures kind) {
  std::vector<double> costs;
  std::size_t failed = 0;
  for (const recording& item : space.recordings()) {
    costs.push_back(item.cost_ms());
    if (item.score_ms) {
      worst_first_.push_back(*item.score_ms);
    } else {
      ++failed;
    }
  }
  if (worst_first_.empty()) {
    throw argument_error("every configuration of '" + space.name() + "' failed");
  }
  median_ms_ = median(worst_first_);
  cost_ms_ = median(costs);
  worst_ms_ = std::ranges::max(worst_first_);
  if (kind == failures::drawn) worst_first_.insert(worst_first_.end(), failed, worst_ms_);
  std::ranges::sort(worst_first_, std::greater<>());
}

double random_baseline::expected_ms(double evaluations) const {
  const auto count = static_cast<double>(worst_first_.size());
  const double rank = std::round(evaluations * (count + 1) / (evaluations + 1));  // from 1
  return worst_first_[static_cast<std::size_t>(std::clamp(rank, 1.0, count)) - 1];
}

double random_baseline::target_ms(double part) const {
  return median_ms_ + part * (optimum_ms() - median_ms_);
}

double random_baseline::evaluations_to(double score_ms) const {
  const auto count = static_cast<double>(worst_first_.size());
  double least = 1;
  double enough = count;
  if (expected_ms(least) <= score_ms) return least;
  while (enough - least > 1) {  // expected_ms never rises
    const double middle = std::floor((least + enough) / 2);
    (expected_ms(middle) <= score_ms ? enough : least) = middle;
  }
  return enough;
}

}  // namespace tune
