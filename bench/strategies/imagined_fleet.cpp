// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "bench/strategies/imagined_fleet.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "libtune/search/space/random_source.hpp"

namespace bench {

imagined_product::imagined_product(std::uint64_t seed) : seed_(seed) {
  tune::random_source random(seed);
  units_ = std::floor(40 + 110 * random.unit());
  tile_overhead_ = 200 + 2000 * random.unit();
  traffic_ = 0.2 + random.unit();
  for (const int rows : {16, 32, 64, 128, 256}) {
    for (const int columns : {16, 32, 64, 128, 256}) {
      for (const int split : {1, 2, 4, 8, 16}) {
        for (const int vector : {1, 2, 4}) {
          for (const int resident : {1, 2, 4}) {
            const int area = rows * columns;
            if (area < 256 || area * resident > 256 * 128) continue;
            all_.push_back({rows, columns, split, vector, resident});
          }
        }
      }
    }
  }
}

double imagined_product::noise(std::uint64_t configuration) const {
  std::uint64_t x = configuration ^ (seed_ * 0x9E3779B97F4A7C15U);
  for (int i = 0; i < 2; ++i) {
    x ^= x >> 31;
    x *= 0xBF58476D1CE4E5B9U;
    x ^= x >> 27;
    x *= 0x94D049BB133111EBU;
    x ^= x >> 31;
  }
  return static_cast<double>(x >> 11) * 0x1p-53;
}

double imagined_product::time(std::size_t configuration, const product_sizes& sizes) const {
  const auto& c = all_[configuration];
  if (std::fmod(sizes.length, c.vector) != 0) return std::numeric_limits<double>::infinity();
  const double tiles =
      std::ceil(sizes.rows / c.tile_rows) * std::ceil(sizes.columns / c.tile_columns) * c.split;
  const double waves = std::max(1.0, std::ceil(tiles / (units_ * c.resident)));
  const double partly = std::max(1.0, tiles / (units_ * c.resident));
  const double speed = (1 + 0.1 * std::log2(c.resident)) * (1 + 0.08 * std::log2(c.vector)) *
                       (0.97 + 0.06 * noise(configuration)) /
                       (1 + 40.0 / c.tile_rows + 40.0 / c.tile_columns);
  const double sums = std::ceil(sizes.length / c.split) * c.tile_rows * c.tile_columns;
  const double tile =
      sums / (600 * speed) * c.resident * 0.6 + tile_overhead_ * (1 + 0.3 * c.resident);
  const double reduction =
      c.split > 1 ? sizes.rows * sizes.columns * c.split * traffic_ * 0.02 + 3000 : 0;
  const double bytes =
      (sizes.rows * sizes.length + sizes.columns * sizes.length + sizes.rows * sizes.columns) *
      0.002;
  return 3000 + std::max((waves + partly) / 2 * tile, bytes) + reduction;
}

double imagined_product::best(const product_sizes& sizes) const {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t c = 0; c < all_.size(); ++c) least = std::min(least, time(c, sizes));
  return least;
}

}  // namespace bench
