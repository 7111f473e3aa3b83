// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/model/observations.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace tune::detail {
namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t forgotten = std::numeric_limits<std::size_t>::max();

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

void replace_by_ranks(std::vector<double>& scores) {
  std::vector<double> sorted = scores;
  std::ranges::sort(sorted);
  for (double& score : scores) {
    score = static_cast<double>(std::ranges::lower_bound(sorted, score) - sorted.begin());
  }
}

/// True if scores have logarithms: all are positive, or all negative, as for a quantity to
/// maximise.
bool have_one_sign(const std::vector<double>& scores) {
  return std::ranges::all_of(scores, [](double score) { return score > 0; }) ||
         std::ranges::all_of(scores, [](double score) { return score < 0; });
}

/// Differences among slow configurations do not help to find fast ones.
void draw_slow_ones_closer(std::vector<double>& values) {
  constexpr double slow_part = 0.2;
  const double middle = median(values);
  for (double& v : values) {
    if (v > middle) v = middle + slow_part * (v - middle);
  }
}

/// Returns the standard deviation before.
double standardise(std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (double& v : values) {
    v -= mean;
    squares += v * v;
  }
  const double deviation = std::sqrt(squares / count);
  if (deviation > 0) {
    for (double& v : values) v /= deviation;
  }
  return deviation;
}

/// Converts scores to targets. Returns their standard deviation before standardisation.
double make_targets(std::vector<double>& values) {
  if (have_one_sign(values)) {
    for (double& v : values) v = v > 0 ? std::log(v) : -std::log(-v);
  } else {
    replace_by_ranks(values);
  }
  draw_slow_ones_closer(values);
  return standardise(values);
}

}  // namespace

bool observations::add(std::size_t index) {
  const auto [found, added] = place_of_.try_emplace(index, all_.size());
  if (!added && found->second != forgotten) return false;
  found->second = all_.size();
  all_.push_back({index});
  return true;
}

void observations::tell(std::size_t index, std::optional<double> score) {
  observation& one = all_[place_of_.at(index)];
  one.told = true;
  one.score = score;
  ++told_;
  if (!score) {
    ++failed_;
  } else if (!best_ || *score < *best_->score) {
    best_ = one;
  }
}

double observations::usual_failure() const {
  return (static_cast<double>(failed_) + 0.5) / (static_cast<double>(told_) + 2);
}

std::vector<double> observations::scores() const {
  std::vector<double> all;
  for (const observation& one : all_) {
    if (one.score) all.push_back(*one.score);
  }
  return all;
}

std::vector<std::size_t> observations::best(std::size_t most) const {
  std::vector<observation> good;
  for (const observation& one : all_) {
    if (one.score) good.push_back(one);
  }
  std::ranges::stable_sort(good, {}, &observation::score);
  std::vector<std::size_t> indices;
  for (const observation& one : good) {
    if (indices.size() < most) indices.push_back(one.index);
  }
  return indices;
}

double observations::unit() const {
  std::vector<double> values = scores();
  if (values.empty() || !have_one_sign(values)) return std::numeric_limits<double>::infinity();
  return make_targets(values);
}

std::vector<float> observations::targets() const {
  std::vector<double> values = scores();
  std::vector<float> targets(size(), static_cast<float>(unknown));
  if (values.empty()) return targets;
  make_targets(values);
  auto next = values.begin();
  for (std::size_t i = 0; i < size(); ++i) {
    if (all_[i].score) targets[i] = static_cast<float>(*next++);
  }
  return targets;
}

std::vector<float> observations::failures() const {
  std::vector<float> failures(size(), static_cast<float>(unknown));
  for (std::size_t i = 0; i < size(); ++i) {
    if (!all_[i].told) continue;
    failures[i] = static_cast<float>((all_[i].score ? 0.0 : 1.0) - usual_failure());
  }
  return failures;
}

void observations::forget_all_but(std::size_t kept) {
  if (size() <= kept) return;
  const auto rate = [](const observation& one) {
    return one.score.value_or(std::numeric_limits<double>::infinity());
  };
  // The best among those before the latest.
  const auto latest = all_.end() - static_cast<std::ptrdiff_t>(kept / 2);
  std::vector<observation> remaining(all_.begin(), latest);
  std::ranges::stable_sort(remaining, {}, rate);
  remaining.resize(kept - kept / 2);
  remaining.insert(remaining.end(), latest, all_.end());
  for (const observation& one : all_) place_of_[one.index] = forgotten;
  all_ = std::move(remaining);
  for (std::size_t i = 0; i < all_.size(); ++i) place_of_[all_[i].index] = i;
}

void failure_rates::learn(std::span<const std::uint32_t> point, bool failed) {
  const auto add = [&](count& to) {
    to.told += 1;
    to.failed += failed ? 1 : 0;
  };
  add(all_);
  if (counts_.size() < point.size()) counts_.resize(point.size());
  for (std::size_t axis = 0; axis < point.size(); ++axis) {
    if (counts_[axis].size() <= point[axis]) counts_[axis].resize(point[axis] + 1);
    add(counts_[axis][point[axis]]);
  }
}

// Adds to each candidate's results a virtual one, which succeeds at the overall success rate.
double failure_rates::success(std::size_t axis, std::uint32_t candidate) const {
  if (axis >= counts_.size() || candidate >= counts_[axis].size()) return 1;
  const count& of = counts_[axis][candidate];
  const double usual = usual_success();
  return std::min(1.0, (of.told - of.failed + usual) / (of.told + 1) / usual);
}

double failure_rates::usual_success() const {
  return (all_.told - all_.failed + 0.5) / (all_.told + 1);
}

}  // namespace tune::detail
