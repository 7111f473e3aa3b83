// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/surrogate.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "libtune/search/kernel_fit.hpp"
#include "libtune/search/neighbours.hpp"

namespace tune::detail {
namespace {

constexpr std::size_t pool_size = 1000;       // at least; neighbours of the best come on top
constexpr std::size_t first_renewal = 8;      // observations
constexpr std::size_t most_observations = 400;
constexpr std::size_t kept_observations = 250;
constexpr std::size_t most_fitted = 80;
constexpr std::size_t forgotten = std::numeric_limits<std::size_t>::max();
constexpr float unknown = std::numeric_limits<float>::quiet_NaN();

gaussian_kernel first_kernel(const coordinates& places) {
  gaussian_kernel kernel;
  kernel.scales.assign(places.axes(), 1.0F);
  for (std::size_t i = 0; i < places.axes(); ++i) {
    kernel.categories.push_back(places.is_category(i));
  }
  kernel.noise = 3e-3F;
  return kernel;
}

double expected_improvement(double mean, double deviation, double best) {
  if (deviation <= 0) return 0;
  const double z = (best - mean) / deviation;
  constexpr double pi = 3.14159265358979323846;
  const double density = std::exp(-z * z / 2) / std::sqrt(2 * pi);
  const double below = std::erfc(-z / std::sqrt(2.0)) / 2;
  return deviation * (z * below + density);
}

float median(std::vector<float> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

surrogate::surrogate(const search_space& space, random_source& random)
    : space_(space),
      random_(random),
      places_(space),
      process_(first_kernel(places_)),
      pool_(places_),
      next_renewal_(first_renewal) {
  refill();
}

void surrogate::expect(std::size_t index) { observe(index); }

surrogate::observation& surrogate::observe(std::size_t index) {
  const auto [found, added] = observed_.try_emplace(index, observations_.size());
  if (!added && found->second != forgotten) return observations_[found->second];
  found->second = observations_.size();
  std::vector<float> point(places_.axes());
  places_.write(index, point);
  process_.add(point);
  pool_.remove(index);
  observations_.push_back({index});
  return observations_.back();
}

void surrogate::learn(std::size_t index, std::optional<double> score) {
  observation& now = observe(index);
  now.told = true;
  now.score = score;
  ++told_;
  if (!score) ++failed_;
  if (score && (!best_ || *score < *best_->score)) best_ = now;
}

std::vector<float> surrogate::targets() const {
  std::vector<float> all(observations_.size(), unknown);
  const bool positive = std::ranges::all_of(
      observations_, [](const observation& o) { return !o.score || *o.score > 0; });
  std::vector<float> known;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!observations_[i].score) continue;
    const double score = *observations_[i].score;
    all[i] = static_cast<float>(positive ? std::log(score) : score);
    known.push_back(all[i]);
  }
  if (known.empty()) return all;
  const float middle = median(known);
  const float least = std::ranges::min(known);
  static const float squeeze = getenv("SQ") ? atof(getenv("SQ")) : 0.3;
  for (float& v : all) if (v > middle) v = middle + squeeze * (v - middle);
  for (float& v : known) if (v > middle) v = middle + squeeze * (v - middle);
  float mean = std::accumulate(known.begin(), known.end(), 0.0F) / known.size();
  (void)least;
  float var = 0;
  for (float v : known) var += (v - mean) * (v - mean);
  float dev = std::sqrt(var / known.size());
  if (!(dev > 0)) dev = 1;
  for (float& v : all) v = (v - mean) / dev;
  return all;
}

std::vector<float> surrogate::outcomes() const {
  const float usual = static_cast<float>(failed_ + 0.5) / static_cast<float>(told_ + 2);
  std::vector<float> all(observations_.size(), unknown);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (observations_[i].told) all[i] = (observations_[i].score ? 0.0F : 1.0F) - usual;
  }
  return all;
}

std::optional<std::size_t> surrogate::most_promising() {
  if (observations_.size() >= next_renewal_) renew();
  if (best_ && watched_ != best_->index) {
    watched_ = best_->index;
    watch_around(best_->index);
  }
  if (pool_.size() == 0) refill();
  if (pool_.size() == 0) return std::nullopt;
  pool_.update(process_);
  const std::vector<float> values = targets();
  const std::vector<float> whitened = process_.whitened(values);
  const std::vector<float> means = pool_.means(whitened);
  std::vector<float> failing(pool_.size(), 0);
  if (failed_ > 0) failing = pool_.means(process_.whitened(outcomes()));
  const float usual = static_cast<float>(failed_ + 0.5) / static_cast<float>(told_ + 2);
  double squares = 1;
  double count = 1;
  double best = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) continue;
    squares += whitened[i] * whitened[i];
    count += 1;
    best = std::min<double>(best, values[i]);
  }
  const double variance = squares / count;
  std::size_t chosen = 0;
  double most = -1;
  for (std::size_t c = 0; c < pool_.size(); ++c) {
    const double dev = std::sqrt(variance * pool_.unexplained(c));
    double gain = best_ ? expected_improvement(means[c], dev, best) : dev;
    if (failed_ > 0) gain *= std::clamp(1.0 - usual - failing[c], 0.01, 1.0);
    if (gain > most) {
      most = gain;
      chosen = c;
    }
  }
  return pool_[chosen];
}

void surrogate::renew() {
  next_renewal_ = observations_.size() + std::max<std::size_t>(4, observations_.size() / 3);
  forget_some();
  fit();
  gaussian_process renewed(process_.kernel());
  process_ = std::move(renewed);
  std::vector<float> point(places_.axes());
  for (const observation& item : observations_) {
    places_.write(item.index, point);
    process_.add(point);
  }
  pool_.clear();
  refill();
  watched_.reset();
}

void surrogate::forget_some() {
  if (observations_.size() <= most_observations) return;
  // The best half stays for what it says, the newest for what is still to come.
  std::vector<observation> kept;
  std::vector<std::size_t> order(observations_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
    const auto rate = [&](std::size_t i) {
      const observation& o = observations_[i];
      if (!o.told) return -std::numeric_limits<double>::infinity();
      return o.score.value_or(std::numeric_limits<double>::infinity());
    };
    return rate(a) < rate(b);
  });
  order.resize(kept_observations);
  std::ranges::sort(order);
  for (const std::size_t i : order) kept.push_back(observations_[i]);
  for (const observation& item : observations_) observed_[item.index] = forgotten;
  observations_ = std::move(kept);
  for (std::size_t i = 0; i < observations_.size(); ++i) observed_[observations_[i].index] = i;
  next_renewal_ = most_observations;
}

void surrogate::fit() {
  const std::vector<float> all = targets();
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!std::isnan(all[i])) order.push_back(i);
  }
  if (order.size() < 5) return;
  if (order.size() > most_fitted) {
    std::ranges::stable_sort(order, {}, [&](std::size_t i) { return all[i]; });
    std::vector<std::size_t> some(order.begin(), order.begin() + most_fitted / 2);
    for (std::size_t i = most_fitted / 2; some.size() < most_fitted; ++i) {
      const std::size_t j = i + random_.below(order.size() - i);
      std::swap(order[i], order[j]);
      some.push_back(order[i]);
    }
    order = some;
  }
  std::vector<float> points;
  std::vector<float> values;
  for (const std::size_t i : order) {
    const float* p = process_.point(i);
    points.insert(points.end(), p, p + places_.axes());
    values.push_back(all[i]);
  }
  process_ = gaussian_process(fit_kernel(process_.kernel(), points, values));
}

void surrogate::refill() {
  const std::size_t size = space_.size();
  if (size <= 2 * pool_size) {
    for (std::size_t i = 0; i < size; ++i) watch(i);
    return;
  }
  for (std::size_t i = 0; i < pool_size; ++i) watch(random_.below(size));
}

void surrogate::watch(std::size_t index) {
  if (!observed_.contains(index)) pool_.add(index, process_);
}

void surrogate::watch_around(std::size_t index) {
  for (const std::size_t other : neighbours(space_, index, neighbourhood::hamming)) watch(other);
}

}  // namespace tune::detail
