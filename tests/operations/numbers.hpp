// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <random>

#include "libtune/array/host_array.hpp"

/// Whole numbers from 0 to limit - 1, drawn as numpy's RandomState(seed).randint(0, limit) draws
/// them, in C order. Matrices only.
template <tune::element T>
tune::host_array<T> random_integers(std::size_t rows, std::size_t columns, std::uint32_t limit,
                                    std::uint32_t seed = 1) {
  tune::host_array<T> numbers({rows, columns});
  std::mt19937 engine(seed);
  const std::uint32_t mask = std::bit_ceil(limit) - 1;
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t column = 0; column < columns; ++column) {
      std::uint32_t drawn = 0;
      do {
        drawn = static_cast<std::uint32_t>(engine()) & mask;
      } while (drawn >= limit);
      numbers(row, column) = static_cast<T>(static_cast<float>(drawn));
    }
  }
  return numbers;
}
