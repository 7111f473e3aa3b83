// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/model/additive_kernel.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tune::detail {
namespace {

float matern(float distance) {
  const float scaled = std::sqrt(5.0F) * distance;
  return (1 + scaled + scaled * scaled / 3) * std::exp(-scaled);
}

additive_kernel::settings first_settings(std::size_t axes) {
  additive_kernel::settings with;
  with.scales.assign(axes, 1.0F);
  return with;
}

}  // namespace

additive_kernel::additive_kernel(const coordinates& places)
    : additive_kernel(places, first_settings(places.axes())) {}

additive_kernel::additive_kernel(const coordinates& places, settings with)
    : with_(std::move(with)) {
  const auto axes = static_cast<float>(places.axes());
  const float pairs = axes * (axes - 1) / 2;
  const float pair = pairs > 0 ? with_.pair : 0;
  const float sum = with_.single + pair + 1;
  single_ = axes > 0 ? with_.single / sum / axes : 0;
  pair_ = pairs > 0 ? pair / sum / pairs : 0;
  all_ = axes > 0 ? 1 / sum : 1;
  for (std::size_t i = 0; i < places.axes(); ++i) {
    axis_table table{places.candidates(i), {}};
    for (std::size_t one = 0; one < table.candidates; ++one) {
      for (std::size_t other = 0; other < table.candidates; ++other) {
        table.alike.push_back(matern(places.distance(i, one, other) * with_.scales[i]));
      }
    }
    tables_.push_back(std::move(table));
  }
}

float additive_kernel::operator()(const std::uint32_t* one, const std::uint32_t* other) const {
  float sum = 0;
  float squares = 0;
  float product = 1;
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    const axis_table& table = tables_[i];
    const float alike = table.alike[one[i] * table.candidates + other[i]];
    sum += alike;
    squares += alike * alike;
    product *= alike;
  }
  // All pairs at once: (sum squared - sum of squares) / 2.
  return single_ * sum + pair_ * 0.5F * (sum * sum - squares) + all_ * product;
}

void additive_kernel::compare(const std::uint32_t* one,
                              const std::vector<std::vector<std::uint32_t>>& others,
                              std::span<float> results) const {
  std::vector<float> sums(results.size(), 0.0F);
  std::vector<float> squares(results.size(), 0.0F);
  std::ranges::fill(results, 1.0F);
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    const float* table = tables_[i].alike.data() + one[i] * tables_[i].candidates;
    const std::uint32_t* candidates = others[i].data();
    for (std::size_t c = 0; c < results.size(); ++c) {
      const float alike = table[candidates[c]];
      sums[c] += alike;
      squares[c] += alike * alike;
      results[c] *= alike;
    }
  }
  for (std::size_t c = 0; c < results.size(); ++c) {
    results[c] =
        single_ * sums[c] + pair_ * 0.5F * (sums[c] * sums[c] - squares[c]) + all_ * results[c];
  }
}

}  // namespace tune::detail
