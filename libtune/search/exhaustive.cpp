// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/exhaustive.hpp"

#include <numbers>
#include <numeric>
#include <utility>

namespace tune {
namespace {

// Multiples of the golden section divide a circle more evenly than those of any other number,
// however many there are. Without a common divisor they meet each place once.
std::size_t stride_of(std::size_t size) {
  if (size <= exhaustive_strategy::most_in_order) return 1;
  auto stride = static_cast<std::size_t>(static_cast<double>(size) * (std::numbers::phi - 1));
  while (std::gcd(stride, size) != 1) ++stride;
  return stride;
}

}  // namespace

exhaustive_strategy::exhaustive_strategy(search_space space, const strategy_options& options)
    : strategy(std::move(space), options), stride_(stride_of(this->space().size())) {}

std::optional<std::size_t> exhaustive_strategy::do_ask() {
  // Both are less than the size, so that the sum does not overflow.
  const std::size_t size = space().size();
  const std::size_t now = next_;
  next_ = now >= size - stride_ ? now - (size - stride_) : now + stride_;
  return now;
}

}  // namespace tune
