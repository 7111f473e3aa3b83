// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/gemm/gemm_space.hpp"

#include <algorithm>
#include <bit>
#include <fmt/format.h>

#include "operations/workload.hpp"

namespace tune::operations {
namespace {

using instruction = gemm_instruction;

constexpr std::size_t warp_items = 32;
constexpr std::size_t swizzle_bytes = 1024;  // alignment of wgmma's tensor tiles
constexpr std::size_t most_stages = 12;

bool is_one_of(std::size_t value, std::initializer_list<std::size_t> all) {
  return std::ranges::find(all, value) != all.end();
}

/// True if the parts divide the tile as the kernel's instruction requires.
bool has_possible_parts(const gemm_tuning& t) {
  if (t.part_m == 0 || t.part_n == 0 || t.tile_m % t.part_m != 0 || t.tile_n % t.part_n != 0) {
    return false;
  }
  const std::size_t down = t.tile_m / t.part_m;
  const std::size_t across = t.tile_n / t.part_n;
  switch (t.instruction) {
    case instruction::plain:
      return is_one_of(t.part_m, {4, 8, 16}) && is_one_of(t.part_n, {4, 8, 16}) &&
             is_one_of(t.depth, {8, 16, 32}) &&
             (across % 8 == 0 ? down % 4 == 0 : across % 4 == 0 && down % 8 == 0) &&
             items_of(t) >= std::max(t.tile_m, t.tile_n) / 4;
    case instruction::mma:
      return is_one_of(t.part_m, {16, 32, 64}) && is_one_of(t.part_n, {32, 64}) && t.depth == 64 &&
             t.tile_m >= 64 && t.tile_n >= 64;
    case instruction::tf32x3:
    case instruction::tf32:
      return is_one_of(t.part_m, {16, 32, 64}) && is_one_of(t.part_n, {32, 64}) &&
             is_one_of(t.depth, {8, 16, 32}) && t.tile_m >= 32 && t.tile_n >= 32 &&
             items_of(t) >= std::max(t.tile_m, t.tile_n) / 4;
    case instruction::wgmma:
      return is_one_of(t.part_m, {64, 128}) && is_one_of(t.part_n, {64, 128, 192, 256}) &&
             t.part_m * t.part_n <= std::size_t{64} * 256 && t.depth == 64 && t.stages >= 2 &&
             t.tile_m <= 256 && t.tile_n <= 256;
  }
  return false;
}

/// An estimate of the registers of a work item.
std::size_t registers_of(const gemm_tuning& t) {
  switch (t.instruction) {
    case instruction::plain: return t.part_m * t.part_n + 2 * (t.part_m + t.part_n) + 32;
    case instruction::mma: return t.part_m * t.part_n / 32 + (t.part_m + t.part_n) / 4 + 40;
    case instruction::tf32: return t.part_m * t.part_n / 32 + (t.part_m + t.part_n) / 4 + 48;
    case instruction::tf32x3: return t.part_m * t.part_n / 32 + (t.part_m + t.part_n) / 2 + 48;
    case instruction::wgmma: return t.part_m * t.part_n / 128 + 32;
  }
  return 0;
}

/// True if local memory has room for all groups that should run at once. CUDA reserves some of it
/// for each.
bool fits_local_memory(const gemm_key& key, const gemm_tuning& t, std::size_t local_bytes) {
  constexpr std::size_t kept_bytes = 1024;
  return (local_memory_bytes(key, t) + kept_bytes) * t.resident <= local_bytes + kept_bytes;
}

/// Restricts the configurations of a GPU with plain, and no others.
void restrict_plain(space<gemm_tuning>& space) {
  using t = gemm_tuning;
  const auto is_other = [](const t& c) { return c.instruction != instruction::plain; };
  // On an H200 the best of 13, with tall tiles and parts, is 0.3 % faster on average over 4,516
  // sizes. But the choice by costs is slower by more than 8 % than the best of the set at 0.34 % of
  // sizes with this set, and at 0.51 % with 13. The best of 22 was within 0.6 % of the best of 13.
  space.restrict(
      [=](const t& c) {
        return is_other(c) || items_of(c) * c.resident == (c.part_m * c.part_n < 64 ? 512 : 384);
      },
      "as many items at once as registers allow", &t::instruction, &t::tile_m, &t::tile_n,
      &t::part_m, &t::part_n, &t::resident);
  space.restrict(
      [=](const t& c) {
        return is_other(c) ||
               (c.tile_m <= std::min<std::size_t>(c.tile_n, 64) && c.part_m <= c.part_n);
      },
      "tiles and parts as wide as high, or wider", &t::instruction, &t::tile_m, &t::tile_n,
      &t::part_m, &t::part_n);
  space.restrict(
      [=](const t& c) {
        return is_other(c) || items_of(c) == 128 ||
               (items_of(c) == 64 && c.part_m * c.part_n == 16);
      },
      "4 warps, or 2 with the smallest parts", &t::instruction, &t::tile_m, &t::tile_n, &t::part_m,
      &t::part_n);
  space.restrict(
      [=](const t& c) {
        if (is_other(c)) return true;
        if (items_of(c) == 64) return c.depth == 32 && c.stages == 2;
        return c.depth == 16 && c.stages == (c.part_m * c.part_n == 64 ? 3 : 4);
      },
      "deep stages with 2 warps", &t::instruction, &t::tile_m, &t::tile_n, &t::part_m, &t::part_n,
      &t::depth, &t::stages);
}

void add_plain_candidates(space<gemm_tuning>& space, bool is_gpu) {
  using t = gemm_tuning;
  space.add(&t::instruction, {instruction::plain});
  if (!is_gpu) {
    space.add(&t::tile_m, {16, 32, 64});
    space.add(&t::tile_n, {16, 32, 64, 128});
    space.add(&t::part_m, {4, 8});
    space.add(&t::part_n, {4, 8});
    space.add(&t::depth, {8, 16});
    space.add(&t::stages, {2});
    space.add(&t::resident, {1});
    space.add(&t::price, {0, 256});
    return;
  }
  // Tall tiles are hardly ever better, because rows of C are contiguous in memory.
  space.add(&t::tile_m, {16, 32, 64});
  space.add(&t::tile_n, {16, 32, 64, 128, 256});
  space.add(&t::part_m, {4, 8});
  space.add(&t::part_n, {4, 8});
  space.add(&t::depth, {16, 32});
  space.add(&t::stages, {2, 3, 4});
  space.add(&t::resident, {3, 4, 8});
  space.add(&t::price, {600});
  restrict_plain(space);
}

void add_tensor_candidates(space<gemm_tuning>& space) {
  using t = gemm_tuning;
  space.add(&t::instruction, {instruction::mma});
  space.add(&t::tile_m, {64, 128});
  space.add(&t::tile_n, {64, 128, 256});
  space.add(&t::part_m, {32, 64});
  space.add(&t::part_n, {32, 64});
  space.add(&t::depth, {64});
  space.add(&t::stages, {2, 3, 4});
  space.add(&t::resident, {1, 2, 3});
  space.add(&t::price, {4000});
}

/// Candidates with products of TF32, beside those with exact products: a goal may bound the error,
/// and what is fastest at a size may differ. Not yet compared on a device, so they are many.
void add_tf32_candidates(space<gemm_tuning>& space, gemm_precision least) {
  using t = gemm_tuning;
  std::vector<instruction> permitted{instruction::plain, instruction::tf32x3};
  if (least == gemm_precision::tf32) permitted.push_back(instruction::tf32);
  space.add(&t::instruction, permitted);
  space.add(&t::tile_m, {16, 32, 64, 128});
  space.add(&t::tile_n, {16, 32, 64, 128, 256});
  space.add(&t::part_m, {4, 8, 32, 64});
  space.add(&t::part_n, {4, 8, 32, 64});
  space.add(&t::depth, {16, 32});
  space.add(&t::stages, {2, 3, 4});
  space.add(&t::resident, {1, 2, 3, 4, 8});
  space.add(&t::price, {600, 2000});
  space.restrict(
      [](const t& c) {
        if (c.instruction == instruction::plain) return c.price == 600;
        return c.price == 2000 && c.tile_m >= 64 && c.tile_n >= 64 && c.resident <= 3;
      },
      "tiles of tensor cores from 64 x 64 on", &t::instruction, &t::tile_m, &t::tile_n,
      &t::resident, &t::price);
}

/// Returns the number of stages that fit in local memory with this many groups on a compute unit.
std::size_t stages_that_fit(const gemm_key& key, gemm_tuning t, std::size_t local_bytes) {
  for (t.stages = most_stages; t.stages > 2; --t.stages) {
    if (fits_local_memory(key, t, local_bytes)) break;
  }
  return t.stages;
}

void add_hopper_candidates(space<gemm_tuning>& space, const gemm_key& key,
                           std::size_t local_bytes) {
  using t = gemm_tuning;
  // On an H200 every configuration with mma was slower.
  space.add(&t::instruction, {instruction::wgmma});
  space.add(&t::tile_m, {64, 128, 192});
  space.add(&t::tile_n, {64, 128, 192, 256});
  space.add(&t::part_m, {64});
  space.add(&t::part_n, {64, 128, 192, 256});
  space.add(&t::depth, {64});
  space.add(&t::stages, {2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  space.add(&t::resident, {1, 2});
  space.add(&t::price, {8000});
  space.restrict([](const t& c) { return c.part_n == c.tile_n; }, "parts as wide as tiles",
                 &t::tile_n, &t::part_n);
  space.restrict(
      [key, local_bytes](const t& c) { return c.stages == stages_that_fit(key, c, local_bytes); },
      "as many stages as local memory has room for", &t::tile_m, &t::tile_n, &t::stages,
      &t::resident);
  // On an H200 the best of these is within 0.2 % of the best of 11, on average over 2,400 sizes,
  // and that was within 0.3 % of the best of 18.
  space.restrict(
      [](const t& c) {
        return c.tile_n == 256 ? c.tile_m == 128 : c.tile_m != 192 || c.tile_n == 192;
      },
      "256 columns beside 128 rows, 192 rows beside 192 columns", &t::tile_m, &t::tile_n);
  space.restrict(
      [](const t& c) { return c.resident == (c.tile_m == 64 && c.tile_n == 64 ? 2U : 1U); },
      "two groups at once with the smallest tiles", &t::tile_m, &t::tile_n, &t::resident);
}

}  // namespace

std::size_t items_of(const gemm_tuning& t) noexcept {
  const std::size_t parts = (t.tile_m / t.part_m) * (t.tile_n / t.part_n);
  switch (t.instruction) {
    case instruction::plain: return parts;
    case instruction::mma:
    case instruction::tf32x3:
    case instruction::tf32: return parts * warp_items;
    case instruction::wgmma: return parts * 4 * warp_items + (t.resident == 1 ? 128 : 64);
  }
  return 0;
}

std::size_t local_memory_bytes(const gemm_key& key, const gemm_tuning& t) {
  if (t.instruction == instruction::plain) {
    const gemm_product as(key);
    const std::size_t rows = t.tile_m + (as.a_along_k ? 4 : 0) + t.tile_n + (as.b_along_k ? 4 : 0);
    return t.stages * t.depth * rows * sizeof(float);
  }
  if (is_tf32(t.instruction)) {
    return t.stages * t.depth * (t.tile_m + 8 + t.tile_n + 8) * sizeof(float);
  }
  // Each stage of wgmma has two barriers, which fit beside the aligned data.
  const std::size_t stages = t.stages * t.depth * (t.tile_m + t.tile_n) * 2 + swizzle_bytes;
  if (t.instruction == instruction::mma) return stages;
  // Halves are gathered before they are written: a whole tile, or 64 columns of each part at a
  // time.
  const std::size_t gathered = t.resident == 1 ? t.tile_n : t.tile_n / t.part_n * 64;
  const std::size_t rows = t.tile_m / t.part_m * 64;
  const std::size_t results = key.output == dtype::float16 ? rows * gathered * 2 : 0;
  // The sums of a cluster reuse the memory of all.
  return std::max(stages + results, t.tile_m * (t.tile_n + 8) * sizeof(float));
}

gemm_tuning gemm_fallback(const gemm_key& key, const device& device) {
  const bool by_plain = key.input != dtype::float16 || cuda_generation(device) < 80;
  if (by_plain && device.kind() == device_kind::gpu) return {.depth = 32, .stages = 2};
  if (by_plain || cuda_generation(device) != 90) return {};
  gemm_tuning made{.instruction = instruction::wgmma,
                   .tile_m = 64,
                   .tile_n = 64,
                   .part_m = 64,
                   .part_n = 64,
                   .depth = 64,
                   .resident = 2,
                   .price = 8000};
  made.stages = stages_that_fit(key, made, device.limits().max_dynamic_local_memory_bytes);
  return made;
}

void check_tuning(const gemm_key& key, const gemm_tuning& t) {
  const bool even_tiles = (std::has_single_bit(t.tile_m) && std::has_single_bit(t.tile_n)) ||
                          t.instruction == instruction::wgmma;
  const bool possible = even_tiles && t.tile_m >= 16 && t.tile_n >= 16 && t.tile_m <= 512 &&
                        t.tile_n <= 512 && t.stages >= 2 && t.stages <= most_stages &&
                        t.resident > 0 && t.band > 0 && has_possible_parts(t) &&
                        items_of(t) >= warp_items && items_of(t) <= 1024;
  if (!possible) {
    throw argument_error(
        fmt::format("the tuning of gemm is impossible: {}; gemm.hpp says what its members may be",
                    to_string(to_values(t))));
  }
  if (is_tf32(t.instruction)) {
    const auto needed =
        t.instruction == instruction::tf32x3 ? gemm_precision::tf32x3 : gemm_precision::tf32;
    if (key.input == dtype::float32 && key.precision >= needed) return;
    throw argument_error(
        fmt::format("the tuning of gemm is impossible: its products of {} need inputs of float32 "
                    "and a key that permits them (gemm_key::precision), which has inputs of {} and "
                    "the precision {}",
                    t.instruction == instruction::tf32x3 ? "tf32x3" : "tf32", dtype_name(key.input),
                    to_string(value_traits<gemm_precision>::to_value(key.precision))));
  }
  if (t.instruction != instruction::plain && key.input != dtype::float16) {
    throw argument_error(
        "the tuning of gemm is impossible: these tensor cores multiply inputs of float16 only");
  }
}

space<gemm_tuning> tuning_space(const gemm_key& key, const device& device) {
  using t = gemm_tuning;
  space<gemm_tuning> space;
  const int generation = cuda_generation(device);
  const std::size_t local_bytes = device.limits().max_dynamic_local_memory_bytes;
  if (key.input == dtype::float16 && generation == 90) {
    add_hopper_candidates(space, key, local_bytes);
  } else if (key.input == dtype::float16 && generation >= 80) {
    add_tensor_candidates(space);
  } else if (key.precision != gemm_precision::exact && key.input == dtype::float32 &&
             generation >= 80) {
    add_tf32_candidates(space, key.precision);
    restrict_plain(space);
  } else {
    add_plain_candidates(space, device.kind() == device_kind::gpu);
  }
  space.restrict([](const t& c) { return has_possible_parts(c); },
                 "parts that the instruction can make", &t::instruction, &t::tile_m, &t::tile_n,
                 &t::part_m, &t::part_n, &t::depth, &t::stages);
  space.restrict(
      [](const t& c) {
        const std::size_t items = items_of(c);
        return items >= warp_items && items <= 512;
      },
      "1 to 16 warps", &t::instruction, &t::tile_m, &t::tile_n, &t::part_m, &t::part_n);
  const std::size_t registers = device.limits().registers_per_work_group;
  space.restrict(
      [registers](const t& c) {
        const std::size_t needed = registers_of(c);
        return registers == 0 || (needed < 256 && needed * items_of(c) * c.resident <= registers);
      },
      "registers for the sums of all resident groups", &t::instruction, &t::tile_m, &t::tile_n,
      &t::part_m, &t::part_n, &t::resident);
  // If local memory is too small for the groups of the fallback, fewer groups run at once than
  // plain tunings say: otherwise no configuration would be left.
  const bool is_short = !fits_local_memory(key, gemm_fallback(key, device), local_bytes);
  space.restrict(
      [key, local_bytes, is_short](const t& c) {
        return (is_short && c.instruction == instruction::plain) ||
               fits_local_memory(key, c, local_bytes);
      },
      "local memory of the device for all resident groups", &t::instruction, &t::tile_m, &t::tile_n,
      &t::depth, &t::stages, &t::resident);
  space.needs([key](const t& c) {
    return resources{.work_group = {items_of(c), 1, 1},
                     .dynamic_local_memory_bytes = local_memory_bytes(key, c)};
  });
  return space;
}

}  // namespace tune::operations
