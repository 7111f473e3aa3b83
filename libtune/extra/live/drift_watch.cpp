// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/live/drift_watch.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace tune::detail {
namespace {

constexpr double spreads = 3;
constexpr double deviation_to_spread = 1.4826;  // the ratio for normally distributed medians

double median_of(std::span<double> values) noexcept {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

std::optional<drift> drift_watch::add(double time_ns) noexcept {
  if (!std::isfinite(time_ns) || time_ns <= 0) return std::nullopt;
  times_[times_count_++] = time_ns;
  if (times_count_ < block) return std::nullopt;
  times_count_ = 0;
  const double median = median_of(times_);
  if (reference_ == 0) {
    medians_[medians_count_++] = median;
    if (medians_count_ == reference_blocks) learn();
    return std::nullopt;
  }
  medians_[medians_count_++ % window] = median;
  if (medians_count_ < window) return std::nullopt;
  const auto found = compare();
  if (found) restart();
  return found;
}

std::optional<double> drift_watch::reference_ns() const noexcept {
  return reference_ == 0 ? std::nullopt : std::optional(reference_);
}

void drift_watch::learn() noexcept {
  reference_ = median_of(medians_);
  for (double& each : medians_) each = std::abs(each - reference_);
  shift_ = std::max(least_shift, spreads * deviation_to_spread * median_of(medians_) / reference_);
  medians_count_ = 0;
}

std::optional<drift> drift_watch::compare() const noexcept {
  std::array<double, window> last{};
  std::copy_n(medians_.begin(), window, last.begin());
  const auto beyond = [&](auto&& is_beyond) {
    return std::count_if(last.begin(), last.end(), is_beyond) + 1 >= std::ssize(last);
  };
  const bool slower = beyond([&](double each) { return each > reference_ * (1 + shift_); });
  const bool faster = beyond([&](double each) { return each < reference_ * (1 - shift_); });
  if (!slower && !faster) return std::nullopt;
  return drift{reference_, median_of(last)};
}

}  // namespace tune::detail
