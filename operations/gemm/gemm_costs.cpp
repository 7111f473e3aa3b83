// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/gemm/gemm_costs.hpp"

#include <algorithm>
#include <cmath>

#include "libtune/device/kernel.hpp"
#include "operations/gemm/gemm_space.hpp"

namespace tune::operations {
namespace {

constexpr std::size_t least_part_of_k = 128;  // smaller parts do not justify sums of their own
constexpr std::size_t most_parts = 1024;
constexpr std::size_t most_waves = 8;  // after more, the last one hardly matters
constexpr std::size_t most_waves_of_parts = 16;
constexpr std::size_t most_of_cluster = 8;

/// The number of products that take the time of writing and reading a part's sum: fitted to times
/// of an H200, except for mma and tf32, which are assumed to be between the others.
double products_per_sum(gemm_instruction of) noexcept {
  switch (of) {
    case gemm_instruction::plain: break;
    case gemm_instruction::mma: return 300;
    case gemm_instruction::wgmma: return 600;
    case gemm_instruction::tf32: return 200;
    case gemm_instruction::tf32x3: return 100;
  }
  return 80;
}

/// Returns the elements that tiles compute for these rows and columns: at the edges tensor cores
/// skip parts without elements of C, and with wgmma columns, 64 at a time.
double computed_by_tensors(const gemm_tuning& t, std::size_t rows, std::size_t columns) noexcept {
  // Steps are powers of two.
  const auto rounded = [](std::size_t extent, std::size_t step) {
    return (extent + step - 1) & ~(step - 1);
  };
  const std::size_t step = t.instruction == gemm_instruction::wgmma ? 64 : t.part_n;
  return static_cast<double>(rounded(rows, t.part_m) * rounded(columns, step));
}

/// Returns the average number of elements that a tile computes.
double mean_of_computed(const gemm_tuning& t, std::size_t rows, std::size_t columns,
                        std::size_t tiles) noexcept {
  if (t.instruction == gemm_instruction::plain) return static_cast<double>(t.tile_m * t.tile_n);
  return computed_by_tensors(t, rows, columns) /
         static_cast<double>(std::max<std::size_t>(tiles, 1));
}

/// Returns the number of elements that the largest tile computes.
double most_computed(const gemm_tuning& t, std::size_t rows, std::size_t columns) noexcept {
  if (t.instruction == gemm_instruction::plain) return static_cast<double>(t.tile_m * t.tile_n);
  return computed_by_tensors(t, std::min(rows, t.tile_m), std::min(columns, t.tile_n));
}

/// Returns the clusters that run at once if each compute unit has one group. A cluster stays within
/// a part of the device, and parts differ: the 132 units of an H200 can hold 66 pairs, 30 fours or
/// 14 eights.
std::size_t clusters_at_once(std::size_t compute_units, std::size_t cluster) noexcept {
  return (cluster > 2 ? compute_units * 7 / 8 : compute_units) / cluster;
}

/// The time of sharing k among the groups of clusters, in steps of k of a group: fitted to times
/// of an H200. The exchange of sums takes longer with more groups at once.
double cost_of_cluster(const gemm_tuning& t, std::size_t cluster, double per_unit) noexcept {
  const double doubled = cluster == 2 ? 0 : cluster == 4 ? 1 : 2;
  const auto elements = static_cast<double>(t.tile_m * t.tile_n * t.resident);
  return 50 + 50 * doubled + (12e5 + 4e5 * doubled) / elements +
         200 * per_unit / static_cast<double>(t.resident);
}

/// The groups of a launch, in waves of groups that run at once.
struct wave_count {
  /// @param shorter  number of the last groups, which have less to do than the others
  /// @param share    their work as a part of the others'
  wave_count(std::size_t groups, std::size_t compute_units, std::size_t resident,
             std::size_t shorter = 0, double share = 1)
      : full(groups == 0 ? 0 : divide_down(groups - 1, compute_units * resident)),
        in_last(groups - full * compute_units * resident) {
    // The compute units get groups in turn, and mostly at most one each.
    const auto on_busiest = [&](std::size_t count) {
      return static_cast<double>(count > compute_units ? divide_up(count, compute_units)
                                                       : std::min<std::size_t>(count, 1));
    };
    if (shorter == 0) {
      on_one = on_busiest(in_last);
      return;
    }
    const std::size_t short_ones = std::min(shorter, in_last);
    const std::size_t others = in_last - short_ones;
    const std::size_t on_each = others < compute_units ? 0 : divide_down(others, compute_units);
    const std::size_t with_more = others - on_each * compute_units;
    on_one = static_cast<double>(on_each) + share * on_busiest(short_ones);
    if (with_more == 0) return;
    const std::size_t before = compute_units - with_more;  // on units without an additional one
    const std::size_t after = short_ones > before ? short_ones - before : 0;
    on_one = std::max(on_one, static_cast<double>(on_each + 1) + share * on_busiest(after));
  }

  /// The number of waves, with the last one by its time: groups that share a compute unit with
  /// fewer others are faster, but not in proportion.
  double time(std::size_t resident) const noexcept {
    const double last = on_one == 0 ? 0 : 0.5 + 0.5 * on_one / static_cast<double>(resident);
    return static_cast<double>(full) + last;
  }

  std::size_t full;     ///< waves before the last one, which may be full as well
  std::size_t in_last;  ///< groups
  /// Groups of the last wave on the busiest compute unit, in units of whole groups.
  double on_one;
};

/// The waves if k of some tiles is divided: the last part of each has the remainder of k, and all
/// of these come last.
wave_count waves_of_parts(std::size_t tiles, std::size_t parts, std::size_t k,
                          std::size_t part_of_k, std::size_t compute_units,
                          std::size_t resident) noexcept {
  const std::size_t left = k - (parts - 1) * part_of_k;
  return {tiles * parts, compute_units, resident, tiles,
          static_cast<double>(left) / static_cast<double>(part_of_k)};
}

/// The rows and columns of a whole tile that a group reads; the given number of groups share the
/// columns.
double rows_read(const gemm_tuning& t, std::size_t rows, std::size_t columns,
                 std::size_t readers = 1) noexcept {
  const std::size_t of_columns = std::min(round_up(columns, 8), t.tile_n) / readers;
  return static_cast<double>(std::min(round_up(rows, 8), t.tile_m) + of_columns);
}

/// The clock cycles of a step of 64 of k with wgmma: the longer of its products and of its reads at
/// 64 bytes a cycle, plus 100. Fitted to times of an H200, like all that follows.
double cycles_of_step(const gemm_tuning& t, std::size_t rows, std::size_t columns) noexcept {
  return std::max(2 * rows_read(t, rows, columns), most_computed(t, rows, columns) / 32) + 100;
}

/// True if tiles of several columns run side by side, not only in one column.
bool are_across(const gemm_tuning& t, std::size_t rows, std::size_t columns) noexcept {
  const std::size_t across = divide_up(columns, t.tile_n);
  return across > 1 && 4 * across >= divide_up(rows, t.tile_m);
}

/// The cycles that clusters wait for memory. Their groups read different parts of k, and so share
/// less of the data from the cache: side by side they get 4,600 bytes a cycle together, clusters of
/// eight in several rows 3,500, with the columns of adjacent tiles counted once.
double waiting_of_clusters(const gemm_tuning& t, const gemm_division& of, std::size_t rows,
                           std::size_t columns, double length) noexcept {
  if (of.cluster == 1 || !are_across(t, rows, columns)) return 0;
  const double bytes_a_cycle = of.cluster == 8 && rows > t.tile_m ? 3500 : 4600;
  const double together = static_cast<double>(of.tiles * of.cluster) *
                          rows_read(t, rows, columns, of.tiles_of_cluster) * 128 / bytes_a_cycle;
  return length / 64 * std::max(together - cycles_of_step(t, rows, columns), 0.0);
}

/// The groups that run at once in the busiest of the parts that share a path to the cache: eight in
/// an H200. Clusters, each of which stays in one part, may not be spread evenly.
double groups_of_busiest_part(const gemm_division& of, std::size_t at_once) noexcept {
  constexpr std::size_t parts_of_device = 8;
  if (of.cluster == 1) return static_cast<double>(at_once) / parts_of_device;
  const std::size_t clusters = divide_up(of.tiles, of.tiles_of_cluster);
  return static_cast<double>(divide_up(clusters, parts_of_device) * of.cluster *
                             of.tiles_of_cluster);
}

/// The cycles that a run waits for memory in addition to its steps, if the cache does not hold A
/// and B from one run to the next; the given number of bytes arrives in each. Groups with the whole
/// of k read longer pieces of rows, but a few of them request too little at once: the latency is
/// 2,700 cycles. Data that several groups request arrives once.
double waiting_for_memory(const device_limits& device, const gemm_tuning& t,
                          const gemm_division& of, std::size_t at_once, std::size_t rows,
                          std::size_t columns, std::size_t k, double cycles) noexcept {
  const double bytes = 2 * static_cast<double>(rows + columns) * static_cast<double>(k);
  const auto cache = static_cast<double>(device.cache_bytes);
  const double beyond = bytes - 0.4 * cache;
  if (beyond <= 0) return 0;
  const double rows_of_group =
      std::min(static_cast<double>(rows + columns) / static_cast<double>(of.tiles),
               rows_read(t, rows, columns));
  const double on_their_way = static_cast<double>(at_once * t.stages) * rows_of_group * 128;
  const double bytes_a_cycle = of.parts > 1     ? 1600
                               : of.cluster > 1 ? 2000
                                                : std::min(on_their_way / 2700, 2600.0);
  return std::max(bytes * std::min(beyond / (cache / 3), 1.0) / bytes_a_cycle - cycles, 0.0);
}

// The terms have similar magnitudes; products and groups are not counted singly.
constexpr double small = 1e-6;
constexpr double thousandth = 1e-3;
constexpr double some = 1e-2;

/// The work of a product, which its terms describe.
struct product_work {
  const gemm_tuning& t;
  const gemm_division& of;
  const wave_count& waves;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t k = 0;
  std::size_t compute_units = 0;
  std::size_t at_once = 0;  ///< groups
  double length = 0;        ///< the steps of k of a group with the whole of k
};

/// The terms of wgmma in addition to those of all instructions.
/// @param all_lengths  the steps of k of all waves
void add_terms_of_wgmma(std::span<double> terms, const product_work& work,
                        const device_limits& device, double all_lengths) noexcept {
  const auto& [t, of, waves, rows, columns, k, compute_units, at_once, length] = work;
  const double cycles = all_lengths / 64 * cycles_of_step(t, rows, columns);
  terms[0] = thousandth * cycles;
  terms[1] = thousandth * waiting_for_memory(device, t, of, at_once, rows, columns, k, cycles);
  // A sum of a part is written and read, and so moves twice the memory.
  terms[2] = small * static_cast<double>(rows * columns + 2 * of.sums());
  // Each row of A comes from another place.
  terms[3] = small * static_cast<double>(rows * k);
  terms[4] = some * groups_of_busiest_part(of, at_once);
  // If units are idle in the last wave, the others are faster.
  const auto all_at_once = static_cast<double>(t.resident) * static_cast<double>(compute_units);
  terms[5] = std::max(1 - static_cast<double>(waves.in_last) / all_at_once, 0.0);
  if (of.cluster == 1) return;
  terms[6] =
      some * some * static_cast<double>(std::min(rows, t.tile_m) * std::min(columns, t.tile_n));
  terms[7] = thousandth * waiting_of_clusters(t, of, rows, columns, length);
  terms[of.cluster == 2 ? 8 : of.cluster == 4 ? 9 : 10] = 1;
}

/// The terms of the other instructions in addition to those of all.
/// @param last  the elements and steps of k of the last wave
/// @param full  the number of full waves
void add_terms_of_others(std::span<double> terms, const product_work& work, double last,
                         double full) noexcept {
  const auto& [t, of, waves, rows, columns, k, compute_units, at_once, length] = work;
  terms[0] = last;
  terms[1] = full > 0 ? 1.0 : 0.0;
  terms[2] = small * static_cast<double>(of.sums());
  terms[3] =
      small * static_cast<double>(columns * k) * static_cast<double>(divide_up(rows, t.tile_m));
  terms[4] =
      small * static_cast<double>(rows * k) * static_cast<double>(divide_up(columns, t.tile_n));
  terms[5] = some * static_cast<double>(at_once);
  terms[6] = std::log2(static_cast<double>(of.parts));
  terms[7] = small * static_cast<double>(rows * columns);
}

cost_terms costs_of(const gemm_tuning& t, const device_limits& device, std::size_t rows,
                    std::size_t columns, std::size_t k) {
  const std::size_t compute_units = std::max<std::size_t>(device.compute_units, 1);
  const gemm_division of(compute_units, t, rows, columns, k);
  const bool is_divided = of.parts > 1;
  const std::size_t groups = is_divided ? of.divided() * of.parts : of.tiles;
  const wave_count waves = is_divided ? waves_of_parts(of.divided(), of.parts, k, of.part_of_k,
                                                       compute_units, t.resident)
                                      : wave_count(groups, compute_units, t.resident);
  const auto resident = static_cast<double>(t.resident);
  // A step of k takes as long if k ends in it. Groups of clusters run one to a compute unit, with a
  // shorter k.
  const auto length = static_cast<double>(round_up(divide_up(k, of.cluster), t.depth));
  const auto length_of_part = static_cast<double>(of.part_of_k);
  const double length_of_last = is_divided ? length_of_part : length;
  // Whole tiles of a divided product are full waves.
  const auto full = static_cast<double>(
      is_divided ? divide_down(of.whole, compute_units * t.resident) : waves.full);
  const auto full_of_parts = static_cast<double>(is_divided ? waves.full : 0);
  const double all_lengths =
      resident * (full * length + full_of_parts * length_of_part) + waves.on_one * length_of_last;
  // The last wave takes as long as its largest tile.
  const double tile = small * most_computed(t, rows, columns);
  // Groups that read the same few columns, or write adjacent memory, wait for each other.
  const auto neighbours = static_cast<double>(std::min(of.tiles, compute_units));
  const bool is_narrow = columns <= t.tile_n;
  const std::size_t at_once = std::clamp<std::size_t>(groups, 1, compute_units * t.resident);
  cost_terms made{
      resident * small * of.mean_of_tile * (full * length + full_of_parts * length_of_part),
      resident * (full + full_of_parts),
      waves.on_one * tile / some,
      some * length_of_last,
      is_divided ? 1.0 : 0.0,
      small * static_cast<double>(rows + columns) * static_cast<double>(k),
      is_narrow ? neighbours / static_cast<double>(std::max<std::size_t>(columns, 1)) : 0.0};
  const std::span<double> others = std::span(made).subspan(7);
  const product_work work{.t = t,
                          .of = of,
                          .waves = waves,
                          .rows = rows,
                          .columns = columns,
                          .k = k,
                          .compute_units = compute_units,
                          .at_once = at_once,
                          .length = length};
  if (t.instruction == gemm_instruction::wgmma) {
    add_terms_of_wgmma(others, work, device, all_lengths);
  } else {
    add_terms_of_others(others, work, waves.on_one * tile * length_of_last, full + full_of_parts);
  }
  return made;
}

}  // namespace

std::size_t tile_count(const gemm_tuning& t, std::size_t rows, std::size_t columns) noexcept {
  return divide_up(rows, t.tile_m) * divide_up(columns, t.tile_n);
}

gemm_division::gemm_division(std::size_t compute_units, const gemm_tuning& t, std::size_t rows,
                             std::size_t columns, std::size_t k)
    : tiles(tile_count(t, rows, columns)),
      whole(tiles),
      part_of_k(round_up(k, t.depth)),
      sums_of_tile(std::min(rows, t.tile_m) * std::min(round_up(columns, 4), t.tile_n)),
      mean_of_tile(mean_of_computed(t, rows, columns, tiles)) {
  const std::size_t at_once = compute_units * t.resident;
  const std::size_t waves = divide_down(tiles, at_once);
  if (t.price == 0 || tiles == 0 || waves > most_waves) return;
  const double least = divide_last_waves(compute_units, t, k, waves);
  if (t.instruction == gemm_instruction::wgmma) {
    form_clusters(compute_units, t, rows, columns, k, least);
  }
}

double gemm_division::divide_last_waves(std::size_t compute_units, const gemm_tuning& t,
                                        std::size_t k, std::size_t waves) noexcept {
  const std::size_t at_once = compute_units * t.resident;
  // All terms are in steps of k of the groups that run at once.
  const double group = mean_of_tile;
  const double cost_of_launch =
      1000 * static_cast<double>(t.price) / (group * static_cast<double>(t.resident));
  const double cost_of_sums = products_per_sum(t.instruction) * static_cast<double>(sums_of_tile) /
                              (group * static_cast<double>(at_once));
  double least =
      wave_count(tiles, compute_units, t.resident).time(t.resident) * static_cast<double>(k);
  // k is divided for the last wave, or for that and the previous one.
  for (std::size_t back = 0; back <= std::min<std::size_t>(waves, 1); ++back) {
    const std::size_t before = waves - back;
    const std::size_t others = tiles - before * at_once;
    if (others == 0) continue;
    const std::size_t most =
        std::min({k / least_part_of_k, most_parts, divide_down(most_sums, others * sums_of_tile)});
    // The minimal cost of parts: no wave is shorter than its groups' share of a full one.
    const double products =
        (static_cast<double>(before) + static_cast<double>(others) / static_cast<double>(at_once)) *
        static_cast<double>(k);
    const auto cost_of_parts = [&](std::size_t made) {
      return cost_of_launch + static_cast<double>(others * made) * cost_of_sums;
    };
    if (most < 2 || products + cost_of_parts(2) >= least) continue;
    for (std::size_t count_of_waves = 1; count_of_waves <= most_waves_of_parts; ++count_of_waves) {
      const std::size_t count = std::min(divide_down(count_of_waves * at_once, others), most);
      if (count < 2) continue;
      const std::size_t depth = round_up(divide_up(k, count), t.depth);
      const std::size_t made = divide_up(k, depth);
      const double time =
          waves_of_parts(others, made, k, depth, compute_units, t.resident).time(t.resident);
      const double cost =
          static_cast<double>(before * k) + time * static_cast<double>(depth) + cost_of_parts(made);
      if (cost < least) {
        least = cost;
        whole = before * at_once;
        part_of_k = depth;
        parts = made;
      }
      if (count == most || products + cost_of_parts(made) >= least) break;
    }
  }
  return least;
}

void gemm_division::form_clusters(std::size_t compute_units, const gemm_tuning& t, std::size_t rows,
                                  std::size_t columns, std::size_t k, double least) noexcept {
  const double alone = wave_count(1, compute_units, t.resident).time(t.resident);
  for (std::size_t count = 2; count <= most_of_cluster; count *= 2) {
    if (tiles > clusters_at_once(compute_units, count) || k < count * t.depth) break;
    const std::size_t share = round_up(divide_up(k, count), t.depth);
    const double per_unit = static_cast<double>(tiles * count) / static_cast<double>(compute_units);
    const double cost = alone * static_cast<double>(share) + cost_of_cluster(t, count, per_unit);
    if (cost >= least) continue;
    least = cost;
    cluster = count;
  }
  if (cluster == 1) return;
  whole = tiles;
  part_of_k = round_up(k, t.depth);
  parts = 1;
  // Two tiles in a cluster pay if tiles share more than they read alone.
  if (t.tile_n > t.tile_m && are_across(t, rows, columns) && 2 * cluster <= most_of_cluster &&
      divide_up(tiles, 2) <= clusters_at_once(compute_units, 2 * cluster)) {
    tiles_of_cluster = 2;
  }
}

size_feature_list gemm_features(std::span<const std::uint64_t> sizes) {
  const auto m = static_cast<double>(sizes[0]);
  const auto n = static_cast<double>(sizes[1]);
  return {m * n, std::min(m, n), std::max(m, n)};
}

cost_function gemm_costs(const gemm_key& key, const gemm_tuning& tuning,
                         const device_limits& limits) {
  return [tuning, limits,
          is_turned = gemm_product(key).is_turned](std::span<const std::uint64_t> sizes) {
    return costs_of(tuning, limits, sizes[is_turned ? 1 : 0], sizes[is_turned ? 0 : 1], sizes[2]);
  };
}

}  // namespace tune::operations
