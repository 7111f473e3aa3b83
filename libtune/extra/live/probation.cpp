// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/live/probation.hpp"

#include <algorithm>
#include <cmath>
#include <span>

namespace tune::detail {
namespace {

// Eight decisions, each with an error rate of 1 in 100,000 for a candidate that is as fast.
constexpr std::array<std::size_t, 8> looks{24, 32, 48, 64, 96, 128, 192, probation::most_pairs};
constexpr double sure_of_gain = 4.26;
// Taking back a good candidate does no lasting harm.
constexpr double sure_of_loss = 2.33;
// From this number on, a candidate whose median shows hardly any gain will not reach the required
// one.
constexpr std::size_t enough_for_hope = 96;
constexpr double hopeless_gain = 0.002;

/// A candidate that was slower by more than this logarithm in each of the first pairs must not
/// serve for 24.
struct disaster {
  std::size_t pairs;
  double logarithm;
};
// Factors 3, 1.5 and 1.15.
constexpr std::array<disaster, 3> disasters{{{1, 1.1}, {2, 0.4}, {4, 0.14}}};

double median_logarithm(std::span<double> values) noexcept {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

// xorshift64*
bool probation::candidate_first() noexcept {
  random_ ^= random_ >> 12U;
  random_ ^= random_ << 25U;
  random_ ^= random_ >> 27U;
  return ((random_ * 0x2545F4914F6CDD1DU) >> 63U) != 0;
}

verdict probation::add(double ratio) noexcept {
  if (!std::isfinite(ratio) || ratio <= 0 || count_ == most_pairs) {
    return count_ == most_pairs ? verdict::take_back : verdict::open;
  }
  logarithms_[count_++] = std::log(ratio);
  if (is_disaster()) return verdict::take_back;
  if (std::ranges::find(looks, count_) == looks.end()) return verdict::open;
  const double gain = signed_rank();
  const double median = this->ratio();
  if (gain >= sure_of_gain && median <= 1 - least_gain) return verdict::keep;
  if (gain <= -sure_of_loss) return verdict::take_back;
  if (count_ >= enough_for_hope && median > 1 - hopeless_gain) return verdict::take_back;
  return count_ == most_pairs ? verdict::take_back : verdict::open;
}

double probation::ratio() const noexcept {
  if (count_ == 0) return 1;
  std::array<double, most_pairs> sorted = logarithms_;
  return std::exp(median_logarithm(std::span(sorted).first(count_)));
}

bool probation::is_disaster() const noexcept {
  return std::ranges::any_of(disasters, [&](const disaster& one) {
    return count_ == one.pairs &&
           std::all_of(logarithms_.begin(),
                       logarithms_.begin() + static_cast<std::ptrdiff_t>(one.pairs),
                       [&](double each) { return each > one.logarithm; });
  });
}

// The sum of the ranks of the pairs that the candidate won, in standard deviations. Pairs of equal
// size may share ranks in any order, because their signs are random, too.
double probation::signed_rank() const noexcept {
  std::array<double, most_pairs> sorted = logarithms_;
  const std::span<double> all = std::span(sorted).first(count_);
  std::ranges::sort(all, {}, [](double each) { return std::abs(each); });
  double won = 0;
  for (std::size_t rank = 1; rank <= count_; ++rank) {
    const double each = all[rank - 1];
    if (each < 0) won += static_cast<double>(rank);
    if (each == 0) won += static_cast<double>(rank) / 2;
  }
  const auto n = static_cast<double>(count_);
  return (won - n * (n + 1) / 4) / std::sqrt(n * (n + 1) * (2 * n + 1) / 24);
}

}  // namespace tune::detail
