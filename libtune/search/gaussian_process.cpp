// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/gaussian_process.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tune::detail {
namespace {

// Float keeps about seven digits; below this the factor of a near-singular matrix breaks down.
constexpr float least_pivot = 1e-4F;

/// Eight sums side by side, which a compiler may keep in one register; of a single one it has to
/// keep the order.
float dot(const float* a, const float* b, std::size_t count) {
  constexpr std::size_t lanes = 8;
  std::array<float, lanes> sums{};
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += a[i + lane] * b[i + lane];
  }
  float sum = 0;
  for (; i < count; ++i) sum += a[i] * b[i];
  for (const float part : sums) sum += part;
  return sum;
}

}  // namespace

void gaussian_process::add(std::span<const std::uint32_t> point) {
  std::vector<float> row;
  whiten(point, size(), row);
  const float left = 1 + kernel_.with().noise - dot(row.data(), row.data(), row.size());
  row.push_back(std::sqrt(std::max(left, least_pivot)));
  rows_.push_back(std::move(row));
  points_.insert(points_.end(), point.begin(), point.end());
}

void gaussian_process::whiten(std::span<const std::uint32_t> point, std::size_t first,
                              std::vector<float>& into) const {
  into.resize(first);
  for (std::size_t i = 0; i < first; ++i) {
    const float* row = rows_[i].data();
    into[i] = (kernel_(point.data(), this->point(i)) - dot(row, into.data(), i)) / row[i];
  }
}

std::vector<float> gaussian_process::whitened(std::span<const float> values) const {
  std::vector<float> result(size());
  for (std::size_t i = 0; i < size(); ++i) {
    if (std::isnan(values[i])) continue;
    const float* row = rows_[i].data();
    result[i] = (values[i] - dot(row, result.data(), i)) / row[i];
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

}  // namespace tune::detail
