// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/space/random_source.hpp"

#include <random>

namespace tune::detail {

struct random_source::engine {
  std::mt19937_64 generator;
};

random_source::random_source(std::uint64_t seed)
    : engine_(std::make_unique<engine>(engine{std::mt19937_64(seed)})) {}
random_source::random_source(random_source&&) noexcept = default;
random_source& random_source::operator=(random_source&&) noexcept = default;
random_source::~random_source() = default;

std::uint64_t random_source::below(std::uint64_t bound) {
  // The lowest 2^64 mod bound numbers are redrawn; the count of the others is a multiple of bound.
  const std::uint64_t excess = (0 - bound) % bound;
  std::uint64_t drawn = engine_->generator();
  while (drawn < excess) drawn = engine_->generator();
  return drawn % bound;
}

double random_source::unit() {
  constexpr double step = 0x1p-53;
  return static_cast<double>(below(std::uint64_t{1} << 53)) * step;
}

random_order::random_order(std::size_t size, std::uint64_t seed) : size_(size), random_(seed) {}

std::optional<std::size_t> random_order::next() {
  if (taken_ == size_) return std::nullopt;
  // A Fisher-Yates shuffle that stores only displaced numbers.
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
