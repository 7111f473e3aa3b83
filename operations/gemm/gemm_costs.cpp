// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/gemm/gemm_costs.hpp"

#include <algorithm>

#include "operations/gemm/gemm_space.hpp"

namespace tune::operations {
namespace {

constexpr std::size_t least_part_of_k = 128;  // less is not worth sums of its own
constexpr std::size_t most_parts = 1024;
constexpr std::size_t most_waves = 16;

/// So many products are made in the time that a sum of a part takes to be written and read again:
/// fitted to times of an H200, except for mma, which is taken to be between the others.
std::size_t products_per_sum(gemm_instruction of) noexcept {
  return of == gemm_instruction::wgmma ? 600 : of == gemm_instruction::mma ? 300 : 80;
}

cost_terms costs_of(const gemm_tuning& t, std::size_t compute_units, std::size_t rows,
                    std::size_t columns, std::size_t k) {
  // Numbers of about the same size, in which neither products nor groups are counted singly.
  constexpr double small = 1e-6;
  constexpr double some = 1e-2;
  const gemm_division of_k(compute_units, t, rows, columns, k);
  const std::size_t at_once = std::max<std::size_t>(compute_units * t.resident, 1);
  const std::size_t groups = tile_count(t, rows, columns) * of_k.parts;
  const std::size_t left = groups % at_once;
  const auto full = static_cast<double>(groups / at_once);
  const auto on_one = static_cast<double>(divide_up(left, std::max<std::size_t>(compute_units, 1)));
  const auto resident = static_cast<double>(t.resident);
  const double tile = small * static_cast<double>(t.tile_m * t.tile_n);
  const double products = tile * static_cast<double>(of_k.part_of_k);
  const double elements = small * static_cast<double>(rows) * static_cast<double>(columns);
  const double inputs = small * static_cast<double>(rows + columns) * static_cast<double>(k);
  const bool is_divided = of_k.parts > 1;
  return {full * resident * products,
          full * resident * tile / some,
          on_one * products,
          on_one * tile / some,
          left > 0 ? resident * products : 0,
          is_divided ? 1.0 : 0.0,
          is_divided ? elements * static_cast<double>(of_k.parts) : 0,
          elements,
          inputs,
          some * static_cast<double>(groups) * products};
}

}  // namespace

std::size_t tile_count(const gemm_tuning& t, std::size_t rows, std::size_t columns) noexcept {
  return divide_up(rows, t.tile_m) * divide_up(columns, t.tile_n);
}

gemm_division::gemm_division(std::size_t compute_units, const gemm_tuning& t, std::size_t rows,
                             std::size_t columns, std::size_t k)
    : part_of_k(round_up(k, t.depth)) {
  const std::size_t tiles = tile_count(t, rows, columns);
  const std::size_t at_once = compute_units * t.resident;
  if (t.price == 0 || tiles == 0 || 2 * tiles > most_waves * at_once) return;
  const std::size_t most =
      std::min({k / least_part_of_k, most_parts, most_sums / (rows * columns)});
  // All in steps of k of all groups that run at once.
  const double cost_of_sums = static_cast<double>(products_per_sum(t.instruction) * rows) *
                              static_cast<double>(columns) /
                              static_cast<double>(at_once * t.tile_m * t.tile_n);
  double least = static_cast<double>(divide_up(tiles, at_once) * k);
  for (std::size_t waves = 1; waves <= most_waves; ++waves) {
    const std::size_t count = std::min(waves * at_once / tiles, most);
    if (count < 2) continue;
    const std::size_t depth = round_up(divide_up(k, count), t.depth);
    const std::size_t made = divide_up(k, depth);
    const double cost = static_cast<double>(divide_up(tiles * made, at_once) * depth + t.price) +
                        static_cast<double>(made) * cost_of_sums;
    if (cost < least) {
      least = cost;
      part_of_k = depth;
      parts = made;
    }
    if (count == most) break;
  }
}

size_feature_list gemm_features(std::span<const std::uint64_t> sizes) {
  const auto m = static_cast<double>(sizes[0]);
  const auto n = static_cast<double>(sizes[1]);
  return {m * n, std::min(m, n), std::max(m, n)};
}

cost_function gemm_costs(const gemm_key& key, const gemm_tuning& tuning,
                         const device_limits& limits) {
  return [tuning, is_turned = gemm_product(key).is_turned,
          units = limits.compute_units](std::span<const std::uint64_t> sizes) {
    return costs_of(tuning, units, sizes[is_turned ? 1 : 0], sizes[is_turned ? 0 : 1], sizes[2]);
  };
}

}  // namespace tune::operations
