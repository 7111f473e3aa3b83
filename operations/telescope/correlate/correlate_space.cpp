// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The search space of correlate.
#include <algorithm>
#include <iterator>
#include <vector>

#include "operations/telescope/correlate/correlate_launch.hpp"
#include "operations/workload.hpp"

namespace tune::operations {
namespace {

using instruction = correlate_instruction;

instruction best_instruction(const device& device) {
  const int generation = cuda_generation(device);
  return generation >= 80   ? instruction::mma_k32
         : generation >= 61 ? instruction::dp4a
                            : instruction::plain;
}

/// True if a device has the instruction wgmma_k32, which exists in one generation only.
bool has_wgmma(const device& device) { return cuda_generation(device) == 90; }

bool is_wgmma(const correlate_tuning& tuning) noexcept {
  return tuning.instruction == instruction::wgmma_k32;
}

// The numbers of warps, in ascending order.
const std::vector<std::size_t> hopper_warps{1, 2, 3, 4, 8, 12, 16};
const std::vector<std::size_t> tensor_warps{4, 8, 12, 16};
const std::vector<std::size_t> other_warps{1, 2, 4, 8, 16};

void add_tensor_candidates(space<correlate_tuning>& space, const correlate_key& key) {
  using t = correlate_tuning;
  // k16 was 1.2 times slower in all measurements.
  space.add(&t::instruction, {instruction::mma_k32});
  space.add(&t::tile_m, {1, 2});
  space.add(&t::tile_n, {2, 3, 4, 5});
  space.add(&t::warps, tensor_warps);
  space.add(&t::steps, {2, 4});
  space.add(&t::stages, {2, 3, 4});
  space.add(&t::resident, {1, 2, 3});
  space.add(&t::slack, {0, 1, 2});
  space.add(&t::prepares, {false, true});
  space.add(&t::atomics, {false, true});
  space.add(&t::waves, {1, 2, 4});
  space.restrict([](const t& c) { return c.tile_m * c.tile_n >= 4 && c.tile_m * c.tile_n <= 8; },
                 "tiles of 4 to 8 blocks", &t::tile_m, &t::tile_n);
  // Larger values had no effect: memory is not the bottleneck.
  space.restrict(
      [](const t& c) {
        return c.stages == (c.prepares ? 2 : c.slack > 0 ? c.slack + 2 : 3);
      },
      "two stages ahead", &t::stages, &t::slack, &t::prepares);
  space.restrict([](const t& c) { return !c.prepares || c.slack == 0; },
                 "no slack for what is prepared", &t::slack, &t::prepares);
  space.restrict([key](const t& c) { return c.tile_n != 5 || divide_up(key.antennas, 8) % 5 == 0; },
                 "5 blocks only where they divide all", &t::tile_n);
}

void add_hopper_candidates(space<correlate_tuning>& space, const correlate_key& key) {
  using t = correlate_tuning;
  space.add(&t::instruction, {instruction::wgmma_k32, instruction::mma_k32});
  space.add(&t::tile_m, {1, 2, 4});
  space.add(&t::tile_n, {2, 4, 5, 8});
  space.add(&t::warps, hopper_warps);
  space.add(&t::steps, {2, 4});
  space.add(&t::stages, {2, 3, 4});
  space.add(&t::resident, {1, 2});
  // Reading, adding and writing in the kernel was never faster in measurements.
  space.add(&t::atomics, {true});
  space.add(&t::waves, {1, 2, 4});
  space.restrict(
      [](const t& c) {
        if (is_wgmma(c)) return c.tile_m == 4 && c.tile_n % 4 == 0;
        return c.tile_m < 4 && (c.tile_m * c.tile_n == 4 || c.tile_m * c.tile_n == 5);
      },
      "tiles of 4 or 5 blocks, but 16 or 32 by wgmma", &t::instruction, &t::tile_m, &t::tile_n);
  // All winners on an H200 had this property.
  space.restrict(
      [](const t& c) {
        if (is_wgmma(c)) {
          return c.stages == 3 && c.resident == (c.warps == 1 ? 2 : 1) &&
                 (c.tile_n == 8 ? c.warps <= 2 && c.steps == 2 : c.warps <= 4);
        }
        return c.resident == (c.warps == 8 ? 2 : 1) &&
               (c.warps == 4 ? c.steps == 2 && c.stages == 4
                             : c.warps > 4 && c.steps == 4 && c.stages == 2);
      },
      "3 stages by wgmma with 1 to 4 tiles, 2 or 4 with 4 to 16 warps", &t::instruction, &t::tile_n,
      &t::warps, &t::steps, &t::stages, &t::resident);
  space.restrict([key](const t& c) { return c.tile_n != 5 || divide_up(key.antennas, 8) % 5 == 0; },
                 "5 blocks only where they divide all", &t::tile_n);
}

void add_other_candidates(space<correlate_tuning>& space, instruction best) {
  using t = correlate_tuning;
  space.add(&t::instruction, std::vector<instruction>{best});
  space.add(&t::tile_m, {1, 2});
  space.add(&t::tile_n, {1, 2});
  space.add(&t::warps, other_warps);
  space.add(&t::steps, {1, 2, 4});
  space.add(&t::stages, {2, 3});
  space.add(&t::waves, {1, 2, 4});
  space.restrict([](const t& c) { return c.tile_m <= c.tile_n; }, "tiles no higher than wide",
                 &t::tile_m, &t::tile_n);
}

std::size_t groups_of(const correlate_key& key, const correlate_tuning& c, std::size_t warps) {
  return group_count(tile_count(key.antennas, c.tile_m, c.tile_n), warps);
}

/// Excludes configurations that equal another one except for names, or that do not fit a device.
void restrict_sizes(space<correlate_tuning>& space, const correlate_key& key, const device& device,
                    const std::vector<std::size_t>& all_warps, std::size_t least_warps) {
  using t = correlate_tuning;
  space.restrict(
      [key](const t& c) { return tile_count(key.antennas, c.tile_m, c.tile_n) <= most_tiles; },
      "tables in constant memory", &t::tile_m, &t::tile_n);
  space.restrict(
      [key, all_warps, least_warps](const t& c) {
        const auto at = std::ranges::find(all_warps, c.warps);
        return at == all_warps.begin() || (!is_wgmma(c) && *std::prev(at) < least_warps) ||
               groups_of(key, c, *std::prev(at)) != groups_of(key, c, c.warps);
      },
      "no more warps than make another number of groups", &t::instruction, &t::tile_m, &t::tile_n,
      &t::warps);
  space.restrict(
      [key, device](const t& c) {
        t fewer = c;
        fewer.waves = c.waves / 2;
        return c.waves == 1 || wanted_copies(device, key, fewer) != wanted_copies(device, key, c);
      },
      "no more waves than make another number of copies", &t::tile_m, &t::tile_n, &t::warps,
      &t::waves);
  const std::size_t registers = device.limits().registers_per_work_group;
  space.restrict(
      [key, registers](const t& c) {
        const std::size_t groups = groups_of(key, c, c.warps);
        const std::size_t warps = divide_up(tile_count(key.antennas, c.tile_m, c.tile_n), groups) *
                                  tile_warps(c) * c.resident;
        const std::size_t needed =
            16 * c.tile_m * c.tile_n / tile_warps(c) + (is_wgmma(c) && c.tile_n == 8 ? 64 : 30);
        const bool fits = registers == 0 || warps * warp_items * needed <= registers;
        return fits && warps <= 32 && (c.resident == 1 || warps <= 18);
      },
      "registers for the sums of all resident groups, and 18 warps at most of several",
      &t::instruction, &t::tile_m, &t::tile_n, &t::warps, &t::resident);
  space.needs([key](const t& c) {
    const tile_plan plan = plan_for(key, c);
    return resources{.work_group = {plan.warps() * tile_warps(c) * warp_items, 1, 1},
                     .dynamic_local_memory_bytes = local_memory_bytes(key, c, plan)};
  });
}

}  // namespace

space<correlate_tuning> tuning_space(const correlate_key& key, const device& device) {
  space<correlate_tuning> space;
  const instruction best = best_instruction(device);
  const bool has_tensors = best == instruction::mma_k32;
  if (has_wgmma(device)) {
    add_hopper_candidates(space, key);
  } else if (has_tensors) {
    add_tensor_candidates(space, key);
  } else {
    add_other_candidates(space, best);
  }
  restrict_sizes(space, key, device,
                 has_wgmma(device) ? hopper_warps
                 : has_tensors     ? tensor_warps
                                   : other_warps,
                 has_tensors ? tensor_warps.front() : other_warps.front());
  return space;
}

}  // namespace tune::operations
