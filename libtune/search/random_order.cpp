// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/random_order.hpp"

namespace tune::detail {

random_order::random_order(std::size_t size, std::uint64_t seed) : size_(size), random_(seed) {}

std::optional<std::size_t> random_order::next() {
  if (taken_ == size_) return std::nullopt;
  // A Fisher-Yates shuffle that stores only what it has displaced.
  const std::size_t position = taken_ + random_.below(size_ - taken_);
  const std::size_t number = at(position);
  if (position != taken_) moved_[position] = at(taken_);
  moved_.erase(taken_);
  ++taken_;
  return number;
}

std::size_t random_order::at(std::size_t position) const {
  const auto found = moved_.find(position);
  return found == moved_.end() ? position : found->second;
}

}  // namespace tune::detail
