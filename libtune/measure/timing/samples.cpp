// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/measure/timing/samples.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numbers>
#include <numeric>

#include "libtune/base/error.hpp"

namespace tune {
namespace {

constexpr run_time unknown{std::numeric_limits<double>::quiet_NaN()};

/// times must not be empty or contain NaN, which would break the order.
run_time median_of(std::vector<run_time> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  if (times.size() % 2 == 1) return *middle;
  return (*std::max_element(times.begin(), middle) + *middle) / 2;
}

// The weight of the pooled spread, in samples of a configuration.
constexpr double prior_weight = 4;
// With up to this many samples the extremes replace the median.
constexpr std::size_t few = 5;

void check(double confidence) {
  if (confidence > 0 && confidence < 1) return;
  throw argument_error(fmt::format(
      "a confidence cannot be {}; give one between 0 and 1, 0.95 for example", confidence));
}

// The normal approximation of the binomial distribution, for sizes at which its terms underflow.
std::size_t large_rank(std::size_t size, double confidence) {
  const auto count = static_cast<double>(size);
  return static_cast<std::size_t>((count - normal_deviate(confidence) * std::sqrt(count)) / 2);
}

// The rank, counted from one, of the order statistic that is the lower bound; the upper bound has
// the same rank counted from the top. Zero if there are too few samples for this confidence.
std::size_t lower_rank(std::size_t size, double confidence) {
  if (size > 1000) return large_rank(size, confidence);
  const auto count = static_cast<double>(size);
  // The probability that at most rank - 1 samples lie below the median.
  double term = std::exp2(-count);
  double tail = term;
  std::size_t rank = 0;
  while (2 * tail <= 1 - confidence && rank < size / 2) {
    ++rank;
    term *= (count - static_cast<double>(rank) + 1) / static_cast<double>(rank);
    tail += term;
  }
  return rank;
}

interval from_ranks(const samples& of, std::size_t rank) {
  std::vector<run_time> times(of.times().begin(), of.times().end());
  const auto at = [&](std::size_t place) {
    const auto found = times.begin() + static_cast<std::ptrdiff_t>(place);
    std::nth_element(times.begin(), found, times.end());
    return *found;
  };
  return {.lower = at(rank - 1), .upper = at(times.size() - rank)};
}

// The pooled spread and the own one, as variances, weighted by their numbers of samples.
double moderated_spread(const samples& of, double pooled) {
  const auto freedom = static_cast<double>(of.size() - 1);
  const double own = of.relative_spread();
  return std::sqrt((prior_weight * pooled * pooled + freedom * own * own) /
                   (prior_weight + freedom));
}

interval from_spread(const samples& of, double confidence, double pooled) {
  if (!std::isfinite(pooled)) return {};
  const double error =
      normal_deviate(confidence) * moderated_spread(of, pooled) * median_error(of.size());
  const auto [least, most] = std::ranges::minmax(of.times());
  const bool is_few = of.size() <= few;
  return {.lower = (is_few ? least : of.median()) * std::max(0.0, 1 - error),
          .upper = (is_few ? most : of.median()) * (1 + error)};
}

}  // namespace

bool samples::finite() const noexcept {
  return !times_.empty() &&
         std::ranges::all_of(times_, [](run_time time) { return std::isfinite(time.count()); });
}

bool samples::valid() const noexcept {
  return finite() &&
         std::ranges::all_of(times_, [](run_time time) { return time > run_time::zero(); });
}

run_time samples::min() const { return finite() ? *std::ranges::min_element(times_) : unknown; }

run_time samples::mean() const {
  if (!finite()) return unknown;
  return std::accumulate(times_.begin(), times_.end(), run_time::zero()) /
         static_cast<double>(times_.size());
}

run_time samples::median() const { return finite() ? median_of(times_) : unknown; }

run_time samples::spread() const {
  if (!finite()) return unknown;
  // 1 / (the 75th percentile of the standard normal distribution)
  constexpr double normal_consistency = 1.4826;
  const run_time centre = median_of(times_);
  std::vector<run_time> deviations = times_;
  for (run_time& time : deviations) time = std::chrono::abs(time - centre);
  return median_of(std::move(deviations)) * normal_consistency;
}

double samples::relative_spread() const { return spread() / median(); }

std::optional<run_time> score(const samples& of) {
  return of.valid() ? std::optional(of.median()) : std::nullopt;
}

interval confidence_interval(const samples& of, double confidence, double pooled_spread) {
  check(confidence);
  if (!of.valid()) return {};
  if (const std::size_t rank = lower_rank(of.size(), confidence); rank > 0) {
    return from_ranks(of, rank);
  }
  return from_spread(of, confidence, pooled_spread);
}

// Newton's method from below, where the function is convex, so that it always converges.
double normal_deviate(double confidence) {
  check(confidence);
  double deviate = 0;
  for (int i = 0; i < 60; ++i) {
    const double excess = std::erfc(deviate / std::numbers::sqrt2) - (1 - confidence);
    const double slope =
        std::numbers::sqrt2 * std::numbers::inv_sqrtpi * std::exp(-deviate * deviate / 2);
    const double step = excess / slope;
    deviate += step;
    if (std::abs(step) < 1e-12) break;
  }
  return deviate;
}

double median_error(std::size_t samples) noexcept {
  // The square root of pi / 2: the standard error of a median of normally distributed times,
  // relative to that of the mean. With one or two samples the median is the mean.
  constexpr double loss = 1.2533;
  return (samples > 2 ? loss : 1) / std::sqrt(static_cast<double>(samples));
}

}  // namespace tune
