// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/model/surrogate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "libtune/search/space/neighbours.hpp"

namespace tune::detail {
namespace {

constexpr std::size_t pool_size = 3000;                  // besides neighbours of the best
constexpr std::size_t centres = 4;                       // the best, whose neighbours are watched
constexpr std::size_t most_alone = pool_size / centres;  // neighbours of each on one axis
constexpr std::size_t diagonal_neighbours = 600;
constexpr std::size_t most_seen = 400;
constexpr std::size_t kept_seen = 250;
constexpr std::size_t least_fitted = 3;
constexpr std::size_t most_fitted = 128;
constexpr std::size_t least_successes = 2;
constexpr std::size_t drawn_to_begin = 8;  // drawn for each of the first proposals
constexpr std::size_t first_spread = 4;
constexpr std::size_t first_renewal = 4;
constexpr double nothing = 0.002;  // negligible gain, relative to the best score
constexpr double endless = std::numeric_limits<double>::infinity();

/// The number of observations after which the model is trusted.
std::size_t spread_until(std::size_t configurations) {
  constexpr double most = 16;
  return static_cast<std::size_t>(
      std::min(most, std::sqrt(static_cast<double>(configurations)) / 4));
}

/// The prior mean of a target. Hardware has powers of two, so other numbers are likely to be
/// slower. A few measurements outweigh the prior.
float prior_mean(float power_distance) {
  constexpr float slower = 0.6F;  // standard deviations
  return slower * power_distance;
}

/// The number of futile proposals that may be by chance. The larger the space, the smaller the part
/// of it that the model has seen. Results that it has forgotten count.
std::size_t futile_by_chance(std::size_t configurations, std::size_t told) {
  constexpr double least = 12;
  constexpr double bits_of_small_space = 6;
  constexpr double bits_for_all = 24;  // beyond those, as many again as have been told
  const double bits = std::log2(static_cast<double>(configurations)) - bits_of_small_space;
  const double part = std::max(0.0, bits) / bits_for_all;
  return static_cast<std::size_t>(least + part * static_cast<double>(told));
}

double below_normal(double z) { return std::erfc(-z / std::sqrt(2.0)) / 2; }

double expected_improvement(double mean, double deviation, double best) {
  const double z = (best - mean) / deviation;
  constexpr double hopeless = -5;
  if (!(z > hopeless)) return 0;
  constexpr double root_of_two_pi = 2.5066282746310002;
  const double density = std::exp(-z * z / 2) / root_of_two_pi;
  return deviation * (z * below_normal(z) + density);
}

/// The probability that a configuration does not fail, given the prediction of the model of
/// failures (1) and successes (0). Never 0, because the model may be wrong.
double probability_of_success(double failure, double posterior_variance) {
  constexpr double least = 0.01;
  constexpr double vagueness = 0.15;  // of the model itself
  const double deviation = std::sqrt(vagueness * vagueness + posterior_variance / 4);
  return std::max(least, below_normal((0.5 - failure) / deviation));
}

/// The parts of the expected improvement that are common to all candidates.
struct prospects {
  double best = 0;      // the smallest target
  double variance = 1;  // of the function
};

/// The variance is the most likely one for the targets and an additional one of variance 1, the
/// variance after standardisation.
prospects prospects_of(std::span<const float> targets, std::span<const float> whitened) {
  prospects found;
  double squares = 1;
  double count = 1;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (std::isnan(targets[i])) continue;
    found.best = std::min(found.best, static_cast<double>(targets[i]));
    squares += static_cast<double>(whitened[i]) * static_cast<double>(whitened[i]);
    ++count;
  }
  found.variance = squares / count;
  return found;
}

/// The observations that the kernel is fitted to: half of the allowed number are the best ones, the
/// others are drawn from the rest.
std::vector<std::size_t> chosen_to_fit(const std::vector<float>& targets, random_source& random) {
  std::vector<std::size_t> chosen;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (!std::isnan(targets[i])) chosen.push_back(i);
  }
  if (chosen.size() <= most_fitted) return chosen;
  std::ranges::stable_sort(chosen, {}, [&](std::size_t i) { return targets[i]; });
  for (std::size_t i = most_fitted / 2; i < most_fitted; ++i) {
    std::swap(chosen[i], chosen[i + random.below(chosen.size() - i)]);
  }
  chosen.resize(most_fitted);
  return chosen;
}

}  // namespace

surrogate::surrogate(const search_space& space, random_source& random)
    : space_(space),
      random_(random),
      places_(space),
      process_(additive_kernel(places_)),
      pool_(places_),
      next_renewal_(first_renewal),
      expected_gain_(endless) {
  refill();
}

void surrogate::expect(std::size_t index) {
  if (!seen_.add(index)) return;
  std::vector<std::uint32_t> point(places_.axes());
  places_.write(index, point);
  process_.add(point);
  pool_.remove(index);
}

void surrogate::learn(std::size_t index, std::optional<double> score) {
  expect(index);
  const double before = seen_.best() ? *seen_.best()->score : std::numeric_limits<double>::max();
  seen_.tell(index, score);
  ++told_;
  const bool gained = score && *score < before - nothing * std::abs(before);
  futile_ = !gained && expected_gain_ <= nothing ? futile_ + 1 : 0;
  std::vector<std::uint32_t> point(places_.axes());
  places_.write(index, point);
  rates_.learn(point, !score);
}

std::optional<std::size_t> surrogate::most_promising() {
  if (seen_.size() >= next_renewal_) renew();
  watch_around_best();
  if (pool_.size() == 0) refill();
  if (pool_.size() == 0) return std::nullopt;
  pool_.update(process_);
  return pool_[spreads() ? place_to_begin() : best_place()];
}

bool surrogate::spreads() const {
  if (seen_.successes() < least_successes || seen_.size() < first_spread) return true;
  // After that, it alternates with the proposals of the model.
  return seen_.size() < spread_until(space_.size()) && seen_.size() % 2 == 1;
}

// The more the scores differ, the greater the loss if the model is wrong.
bool surrogate::is_exhausted() const {
  constexpr double most_for_spread = 100;
  constexpr double for_spread = 1000;
  const std::size_t by_chance = futile_by_chance(space_.size(), told_);
  if (futile_ < by_chance) return false;
  const double more = std::min(most_for_spread, for_spread * seen_.unit());
  return futile_ >= by_chance + static_cast<std::size_t>(more);
}

// Among some that are drawn, one far from the previous ones.
std::size_t surrogate::place_to_begin() {
  expected_gain_ = endless;
  const std::vector<float> failing = pool_.means(process_.whitened(seen_.failures()));
  const auto rate = [&](std::size_t place) {
    return failing[place] + prior_mean(pool_.power_distance(place)) -
           pool_.posterior_variance(place);
  };
  std::size_t chosen = random_.below(pool_.size());
  for (std::size_t i = 1; i < drawn_to_begin; ++i) {
    const std::size_t other = random_.below(pool_.size());
    if (rate(other) < rate(chosen)) chosen = other;
  }
  return chosen;
}

std::size_t surrogate::best_place() {
  const std::vector<float> targets = seen_.targets();
  const std::vector<float> whitened = process_.whitened(residuals(targets));
  const std::vector<float> means = pool_.means(whitened);
  const prospects to_gain = prospects_of(targets, whitened);
  std::vector<float> failing;
  if (seen_.failed() > 0) failing = pool_.means(process_.whitened(seen_.failures()));
  std::size_t best = 0;
  double most = 0;
  for (std::size_t i = 0; i < pool_.size(); ++i) {
    const double mean = means[i] + prior_mean(pool_.power_distance(i));
    const double deviation = std::sqrt(to_gain.variance * pool_.posterior_variance(i));
    double gain = expected_improvement(mean, deviation, to_gain.best);
    if (!failing.empty() && gain > most) {
      gain *=
          probability_of_success(seen_.usual_failure() + failing[i], pool_.posterior_variance(i)) *
          feasibility(i);
    }
    if (gain > most) {
      most = gain;
      best = i;
    }
  }
  expected_gain_ = most * seen_.unit();
  return best;
}

// The smallest success rate of its candidates.
double surrogate::feasibility(std::size_t place) const {
  double least = 1;
  for (std::size_t axis = 0; axis < places_.axes(); ++axis) {
    least = std::min(least, rates_.success(axis, pool_.on_axis(axis, place)));
  }
  return least;
}

std::vector<float> surrogate::residuals(std::vector<float> targets) const {
  for (std::size_t i = 0; i < targets.size(); ++i) {
    targets[i] -= prior_mean(places_.power_distance({process_.point(i), process_.axes()}));
  }
  return targets;
}

void surrogate::renew() {
  const bool is_full = seen_.size() >= most_seen;
  if (is_full) seen_.forget_all_but(kept_seen);
  next_renewal_ = std::min(seen_.size() + std::max<std::size_t>(2, seen_.size() / 5), most_seen);
  if (!is_full && seen_.successes() < least_fitted) return;  // the kernel would be the same again
  process_ = gaussian_process(additive_kernel(places_, fitted()));
  std::vector<std::uint32_t> point(places_.axes());
  for (std::size_t i = 0; i < seen_.size(); ++i) {
    places_.write(seen_[i].index, point);
    process_.add(point);
  }
  pool_.clear();
  refill();
}

additive_kernel::settings surrogate::fitted() {
  const std::vector<float> targets = seen_.targets();
  // Some may have been forgotten since they were added, so the process does not have their points.
  std::vector<std::uint32_t> points;
  std::vector<float> values;
  std::vector<std::uint32_t> point(places_.axes());
  for (const std::size_t i : chosen_to_fit(targets, random_)) {
    places_.write(seen_[i].index, point);
    points.insert(points.end(), point.begin(), point.end());
    values.push_back(targets[i] - prior_mean(places_.power_distance(point)));
  }
  const auto& now = process_.kernel().with();
  return values.size() < least_fitted ? now : fit_kernel(places_, now, points, values);
}

void surrogate::refill() {
  const std::size_t size = space_.size();
  if (size <= 2 * pool_size) {
    for (std::size_t i = 0; i < size; ++i) watch(i);
  } else {
    for (std::size_t i = 0; i < pool_size; ++i) watch(random_.below(size));
  }
  watched_.clear();
}

void surrogate::watch(std::size_t index) {
  if (!seen_.contains(index)) pool_.add(index, process_);
}

void surrogate::watch_around_best() {
  for (const std::size_t centre : seen_.best(centres)) {
    if (std::ranges::find(watched_, centre) != watched_.end()) continue;
    watched_.push_back(centre);
    auto alone = neighbours(space_, centre, neighbourhood::hamming);
    if (alone.size() > most_alone) {
      alone = sample_neighbours(space_, centre, neighbourhood::hamming, most_alone, random_);
    }
    for (const std::size_t near : alone) watch(near);
    // Because of restrictions, better configurations may differ on several axes at once.
    for (const std::size_t near :
         sample_neighbours(space_, centre, neighbourhood::adjacent, diagonal_neighbours, random_)) {
      watch(near);
    }
  }
}

}  // namespace tune::detail
