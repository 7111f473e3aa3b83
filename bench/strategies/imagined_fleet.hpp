// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench {

/// The sizes of a matrix product: rows, columns, and the length of the sums.
struct product_sizes {
  double rows = 1024;
  double columns = 1024;
  double length = 1024;
};

/// A model of a tiled matrix product on an imagined device with several units, with waves of work
/// groups, vector loads that some sizes forbid, divided sums, and fixed noise for each
/// configuration. The seed determines the device and the noise; models of equal seeds are equal.
class imagined_product {
 public:
  explicit imagined_product(std::uint64_t seed);

  std::size_t configurations() const noexcept { return all_.size(); }
  /// The time in nanoseconds; infinite for an invalid configuration.
  double time(std::size_t configuration, const product_sizes& sizes) const;
  /// The least time of all.
  double best(const product_sizes& sizes) const;

 private:
  struct configuration {
    int tile_rows, tile_columns, split, vector, resident;
  };

  double noise(std::uint64_t configuration) const;

  std::uint64_t seed_;
  double units_;
  double tile_overhead_;
  double traffic_;
  std::vector<configuration> all_;
};

}  // namespace bench
