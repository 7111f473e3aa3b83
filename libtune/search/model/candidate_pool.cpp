// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/model/candidate_pool.hpp"

#include <algorithm>

namespace tune::detail {

void candidate_pool::clear() {
  candidates_.clear();
  place_of_.clear();
  for (auto& axis : points_) axis.clear();
  oddness_.clear();
  explained_.clear();
  rows_.clear();
}

void candidate_pool::add(std::size_t index, const gaussian_process& process) {
  if (!place_of_.emplace(index, size()).second) return;
  candidates_.push_back(index);
  point_.resize(places_.axes());
  places_.write(index, point_);
  for (std::size_t i = 0; i < point_.size(); ++i) points_[i].push_back(point_[i]);
  oddness_.push_back(places_.oddness(point_));
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
  move_last(oddness_);
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

float candidate_pool::unexplained(std::size_t place) const {
  return std::max(1 - explained_[place], 0.0F);
}

}  // namespace tune::detail
