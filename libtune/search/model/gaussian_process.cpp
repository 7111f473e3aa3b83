// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/model/gaussian_process.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "libtune/search/model/dot_product.hpp"

namespace tune::detail {
namespace {

// Float has about seven digits; smaller pivots make the factor of a near-singular matrix useless.
constexpr float least_pivot = 1e-4F;

using settings = additive_kernel::settings;

/// The prior of one hyperparameter, and its bounds.
struct belief {
  double usual;
  double spread;  // of the logarithm
  float least;
  float most;

  double log_probability(float number) const {
    const double off = std::log(static_cast<double>(number) / usual) / spread;
    return -0.5 * off * off;
  }
};

constexpr belief of_scales{0.6, 1.0, 0.05F, 20.0F};
constexpr belief of_weights{1.0, 1.5, 0.02F, 50.0F};
constexpr belief of_noise{2e-3, 2.0, 1e-4F, 0.3F};

class climbing {
 public:
  climbing(const coordinates& places, settings from, std::span<const std::uint32_t> points,
           std::span<const float> values)
      : places_(places),
        with_(std::move(from)),
        points_(points.begin(), points.end()),
        values_(values),
        candidates_(number_candidates()),
        best_(rate()) {}

  settings run() {
    for (float& scale : with_.scales) climb(scale, 1.8F, of_scales);
    climb(with_.single, 3, of_weights);
    climb(with_.pair, 3, of_weights);
    climb(with_.noise, 3, of_noise);
    return std::move(with_);
  }

 private:
  /// Changes a setting as long as that improves the likelihood.
  void climb(float& number, float factor, const belief& believed) {
    for (const float step : {factor, 1 / factor}) {
      bool better = false;
      while (takes(number, std::clamp(number * step, believed.least, believed.most))) better = true;
      if (better) return;
    }
  }

  bool takes(float& number, float other) {
    if (other == number) return false;
    const float before = std::exchange(number, other);
    const double rated = rate();
    if (rated > best_) {
      best_ = rated;
      return true;
    }
    number = before;
    return false;
  }

  // Only candidates that occur, so that the kernel's tables are small whatever the axis.
  std::vector<std::vector<std::uint32_t>> number_candidates() {
    std::vector<std::vector<std::uint32_t>> found(places_.axes());
    for (std::size_t i = 0; i < points_.size(); ++i) {
      auto& on = found[i % found.size()];
      const auto known = std::ranges::find(on, points_[i]);
      const auto place = static_cast<std::uint32_t>(known - on.begin());
      if (known == on.end()) on.push_back(points_[i]);
      points_[i] = place;
    }
    return found;
  }

  double rate() const {
    double sum = log_likelihood(additive_kernel(places_, with_, candidates_), points_, values_);
    for (const float scale : with_.scales) sum += of_scales.log_probability(scale);
    sum += of_weights.log_probability(with_.single) + of_weights.log_probability(with_.pair);
    return sum + of_noise.log_probability(with_.noise);
  }

  const coordinates& places_;
  settings with_;
  std::vector<std::uint32_t> points_;  // places in candidates_
  std::span<const float> values_;
  std::vector<std::vector<std::uint32_t>> candidates_;  // by axis, only those of the points
  double best_;
};

}  // namespace

void gaussian_process::add(std::span<const std::uint32_t> point) {
  std::vector<float> row;
  whiten(point, size(), row);
  const float left = 1 + kernel_.with().noise - dot_product(row.data(), row.data(), row.size());
  row.push_back(std::sqrt(std::max(left, least_pivot)));
  rows_.push_back(std::move(row));
  points_.insert(points_.end(), point.begin(), point.end());
}

void gaussian_process::whiten(std::span<const std::uint32_t> point, std::size_t first,
                              std::vector<float>& into) const {
  into.resize(first);
  for (std::size_t i = 0; i < first; ++i) {
    const float* row = rows_[i].data();
    into[i] = (kernel_(point.data(), this->point(i)) - dot_product(row, into.data(), i)) / row[i];
  }
}

std::vector<float> gaussian_process::whitened(std::span<const float> values) const {
  std::vector<float> result(size());
  for (std::size_t i = 0; i < size(); ++i) {
    if (std::isnan(values[i])) continue;
    const float* row = rows_[i].data();
    result[i] = (values[i] - dot_product(row, result.data(), i)) / row[i];
  }
  return result;
}

double log_likelihood(const additive_kernel& kernel, std::span<const std::uint32_t> points,
                      std::span<const float> values) {
  gaussian_process process(kernel);
  const std::size_t axes = kernel.axes();
  for (std::size_t i = 0; i < values.size(); ++i) process.add(points.subspan(i * axes, axes));
  double squares = 0;
  double logarithms = 0;
  const std::vector<float> whitened = process.whitened(values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    squares += static_cast<double>(whitened[i]) * static_cast<double>(whitened[i]);
    logarithms += std::log(static_cast<double>(process.row(i).back()));
  }
  const auto count = static_cast<double>(values.size());
  return -0.5 * count * std::log(std::max(squares / count, 1e-12)) - logarithms;
}

additive_kernel::settings fit_kernel(const coordinates& places, additive_kernel::settings from,
                                     std::span<const std::uint32_t> points,
                                     std::span<const float> values) {
  return climbing(places, std::move(from), points, values).run();
}

void candidate_pool::clear() {
  candidates_.clear();
  place_of_.clear();
  for (auto& axis : points_) axis.clear();
  power_distances_.clear();
  explained_.clear();
  rows_.clear();
}

void candidate_pool::add(std::size_t index, const gaussian_process& process) {
  if (!place_of_.emplace(index, size()).second) return;
  candidates_.push_back(index);
  point_.resize(places_.axes());
  places_.write(index, point_);
  for (std::size_t i = 0; i < point_.size(); ++i) points_[i].push_back(point_[i]);
  power_distances_.push_back(places_.power_distance(point_));
  process.whiten(point_, rows_.size(), column_);
  float explained = 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    rows_[i].push_back(column_[i]);
    explained += column_[i] * column_[i];
  }
  explained_.push_back(explained);
}

void candidate_pool::remove(std::size_t index) {
  const auto found = place_of_.find(index);
  if (found == place_of_.end()) return;
  const std::size_t place = found->second;
  place_of_.erase(found);
  const std::size_t last = size() - 1;
  if (place != last) place_of_[candidates_[last]] = place;
  const auto move_last = [place](auto& items) {
    items[place] = items.back();
    items.pop_back();
  };
  for (auto& axis : points_) move_last(axis);
  for (auto& row : rows_) move_last(row);
  move_last(power_distances_);
  move_last(explained_);
  move_last(candidates_);
}

void candidate_pool::update(const gaussian_process& process) {
  while (rows_.size() < process.size()) {
    const std::size_t at = rows_.size();
    const float* factor = process.row(at).data();
    std::vector<float> row(size());
    process.kernel().compare(process.point(at), points_, row);
    for (std::size_t j = 0; j < at; ++j) {
      const float* earlier = rows_[j].data();
      for (std::size_t c = 0; c < row.size(); ++c) row[c] -= factor[j] * earlier[c];
    }
    for (std::size_t c = 0; c < row.size(); ++c) {
      row[c] /= factor[at];
      explained_[c] += row[c] * row[c];
    }
    rows_.push_back(std::move(row));
  }
}

std::vector<float> candidate_pool::means(std::span<const float> whitened) const {
  std::vector<float> all(size());
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (whitened[i] == 0) continue;
    const float* row = rows_[i].data();
    for (std::size_t c = 0; c < all.size(); ++c) all[c] += whitened[i] * row[c];
  }
  return all;
}

float candidate_pool::posterior_variance(std::size_t place) const {
  return std::max(1 - explained_[place], 0.0F);
}

}  // namespace tune::detail
