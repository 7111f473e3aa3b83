// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/gaussian_process.hpp"

#include <algorithm>
#include <cmath>

namespace tune::detail {
namespace {

// Float keeps about seven digits; below this the factor of a near-singular matrix breaks down.
constexpr float least_pivot = 1e-4F;

}  // namespace

float gaussian_kernel::operator()(const float* a, const float* b) const {
  float squared = 0;
  for (std::size_t i = 0; i < scales.size(); ++i) {
    const float difference = categories[i] ? (a[i] == b[i] ? 0.0F : 1.0F) : a[i] - b[i];
    squared += difference * difference * scales[i] * scales[i];
  }
  const float distance = std::sqrt(5 * squared);
  return (1 + distance + distance * distance / 3) * std::exp(-distance);
}

void gaussian_process::add(std::span<const float> point) {
  std::vector<float> row;
  whiten(point, size(), row);
  float left = 1 + kernel_.noise;
  for (const float entry : row) left -= entry * entry;
  row.push_back(std::sqrt(std::max(left, least_pivot)));
  rows_.push_back(std::move(row));
  points_.insert(points_.end(), point.begin(), point.end());
}

void gaussian_process::whiten(std::span<const float> point, std::size_t first,
                              std::vector<float>& into) const {
  into.resize(first);
  for (std::size_t i = 0; i < first; ++i) {
    const float* row = rows_[i].data();
    float left = kernel_(point.data(), this->point(i));
    for (std::size_t j = 0; j < i; ++j) left -= row[j] * into[j];
    into[i] = left / row[i];
  }
}

std::vector<float> gaussian_process::whitened(std::span<const float> values) const {
  std::vector<float> result(size());
  for (std::size_t i = 0; i < size(); ++i) {
    if (std::isnan(values[i])) continue;
    const float* row = rows_[i].data();
    float left = values[i];
    for (std::size_t j = 0; j < i; ++j) left -= row[j] * result[j];
    result[i] = left / row[i];
  }
  return result;
}

double log_likelihood(const gaussian_kernel& kernel, std::span<const float> points,
                      std::span<const float> values) {
  gaussian_process process(kernel);
  const std::size_t axes = kernel.scales.size();
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

}  // namespace tune::detail
