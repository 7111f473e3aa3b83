// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/random_source.hpp"

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
  // 2^64 mod bound numbers are drawn again; what is left is a multiple of bound.
  const std::uint64_t excess = (0 - bound) % bound;
  std::uint64_t drawn = engine_->generator();
  while (drawn < excess) drawn = engine_->generator();
  return drawn % bound;
}

double random_source::unit() {
  constexpr double step = 0x1p-53;
  return static_cast<double>(below(std::uint64_t{1} << 53)) * step;
}

}  // namespace tune::detail
