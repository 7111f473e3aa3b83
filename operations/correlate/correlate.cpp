// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/correlate/correlate.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

#include "libtune/verify/answer.hpp"
#include "operations/correlate/reference.hpp"
#include "operations/correlate/tile_plan.hpp"
#include "operations/workload.hpp"

#include "correlate.kernel.hpp"

namespace tune::operations {
namespace {

using instruction = correlate_instruction;

constexpr std::size_t step_spectra = 16;
constexpr std::size_t warp_items = 32;
constexpr std::size_t four_warps = 4;                        // that have a tile by wgmma_k32
constexpr std::size_t sorted_step_bytes = step_spectra * 4;  // of an antenna, unpacked
// Of one work group, after which sums of 32 bits may overflow: 16 * 2 * 127^2 is added in a step.
constexpr std::size_t most_steps = 4096;
// Fewer are not worth a copy of the accumulators.
constexpr std::size_t least_steps = 16;
constexpr std::size_t most_tiles = 4096;  // that constant memory has room for

/// Of an antenna and a spectrum.
std::size_t word_bytes(const correlate_key& key) noexcept { return key.bits / 2; }

/// The size of an array of voltages.
shape voltages_size(const correlate_key& key, std::size_t batches) {
  if (key.bits == 4) return {batches, key.antennas, key.channels, key.spectra, 2};
  return {batches, key.antennas, key.channels, key.spectra, 2, 2};
}

std::vector<dimension> voltages_dimensions(const correlate_key& key, std::size_t batches) {
  std::vector<dimension> dimensions;
  for (const std::size_t extent : voltages_size(key, batches)) dimensions.emplace_back(extent);
  return dimensions;
}

dtype voltages_type(const correlate_key& key) noexcept {
  return key.bits == 8 ? dtype::int8 : dtype::uint8;
}

void check_key(const correlate_key& key) {
  if (key.antennas == 0 || key.channels == 0 || key.spectra == 0) {
    throw argument_error(
        fmt::format("correlate needs antennas, channels and spectra, not {}, {} and {} of them",
                    key.antennas, key.channels, key.spectra));
  }
  if (key.bits != 8 && key.bits != 4) {
    throw argument_error(
        fmt::format("correlate takes voltages with parts of 8 or 4 bits, not {}", key.bits));
  }
  if (key.spectra % step_spectra != 0) {
    throw argument_error(fmt::format(
        "correlate cannot take {} spectra in a batch; their number has to be a multiple of {}",
        key.spectra, step_spectra));
  }
  if (key.channels > std::numeric_limits<std::uint32_t>::max() / 2) {
    throw argument_error(fmt::format(
        "{} channels are more than a launch can have work groups; correlate a part at a time",
        key.channels));
  }
}

/// The warps that have a tile together.
std::size_t tile_warps(const correlate_tuning& tuning) noexcept {
  return tuning.instruction == instruction::wgmma_k32 ? four_warps : 1;
}

void check_tuning(const correlate_key& key, const correlate_tuning& t) {
  const bool possible = t.tile_m > 0 && t.tile_n > 0 && t.tile_m * t.tile_n / tile_warps(t) < 32 &&
                        t.warps > 0 && t.warps <= 32 &&
                        (t.steps == 1 || t.steps == 2 || t.steps == 4) && t.stages >= 2 &&
                        t.slack < t.stages && t.resident > 0 && t.waves > 0;
  if (!possible) {
    throw argument_error(
        "the tuning of correlate is impossible: it takes tiles of 1 to 31 blocks, 1 to 32 warps, "
        "1, 2 or 4 steps, 2 stages at least, a slack below that, and not 0 resident groups or "
        "waves");
  }
  if (t.instruction == instruction::wgmma_k32 &&
      (t.tile_m != 4 || (t.tile_n != 4 && t.tile_n != 8) || t.warps > (t.tile_n == 8 ? 3 : 8) ||
       (t.tile_n == 8 && t.stages > 3))) {
    throw argument_error(
        "the tuning of correlate is impossible: tiles by wgmma_k32 have 4 x 4 blocks, and a group "
        "has 1 to 8 of them; or 4 x 8, and a group has 1 to 3, with 2 or 3 stages");
  }
  if (const std::size_t tiles = tile_count(key.antennas, t.tile_m, t.tile_n); tiles > most_tiles) {
    throw argument_error(fmt::format(
        "correlate cannot divide {} antennas into {} tiles of {} x {} blocks; larger tiles make "
        "them {} at most",
        key.antennas, tiles, t.tile_m, t.tile_n, most_tiles));
  }
}

tile_plan plan_for(const correlate_key& key, const correlate_tuning& tuning) {
  return plan_tiles(key.antennas, tuning.tile_m, tuning.tile_n, tuning.warps);
}

std::size_t local_memory_bytes(const correlate_key& key, const correlate_tuning& tuning,
                               const tile_plan& plan) {
  constexpr std::size_t block_sums_bytes = 64 * 8 * 4;
  const std::size_t sums_bytes = plan.warps() * tile_warps(tuning) * block_sums_bytes;
  const bool is_wgmma = tuning.instruction == instruction::wgmma_k32;
  if (is_wgmma && tuning.tile_n == 8) {
    constexpr std::size_t sorted_chunks = 4;
    // With what keeps steps apart in memory banks.
    const std::size_t chunk_bytes = tuning.steps * sorted_step_bytes * plan.slots() + 128;
    return std::max(sorted_chunks * chunk_bytes, sums_bytes);
  }
  const bool prepares = tuning.prepares && tuning.instruction != instruction::plain;
  const std::size_t prepared = is_wgmma ? 2 : prepares ? 6 : 0;
  const std::size_t stage_bytes =
      tuning.stages * step_spectra * word_bytes(key) + prepared * sorted_step_bytes;
  return std::max(stage_bytes * tuning.steps * plan.slots(), sums_bytes) +
         2 * tuning.stages * sizeof(std::uint64_t);  // barriers
}

program build(const context& context, const correlate_key& key, const correlate_tuning& tuning) {
  defines macros(tuning);
  macros.add("antennas", static_cast<std::int64_t>(key.antennas));
  macros.add("spectra", static_cast<std::int64_t>(key.spectra));
  macros.add("bits", static_cast<std::int64_t>(key.bits));
  return compile(
      context,
      {"correlate.kernel", plan_for(key, tuning).text() + std::string(embedded::correlate_kernel)},
      macros,
      {.flags = tuning.instruction == instruction::wgmma_k32
                    ? std::vector<std::string>{"--gpu-architecture=sm_90a"}
                    : std::vector<std::string>{}});
}

/// The copies of the accumulators that keep a device busy, if time is long.
std::size_t wanted_copies(const device& device, const correlate_key& key,
                          const correlate_tuning& tuning) {
  const std::size_t groups =
      group_count(tile_count(key.antennas, tuning.tile_m, tuning.tile_n), tuning.warps);
  const std::size_t wanted = device.limits().compute_units * tuning.waves;
  return std::clamp<std::size_t>(wanted / (groups * key.channels), 1, 1024);
}

std::size_t copy_count(const device& device, const correlate_key& key,
                       const correlate_tuning& tuning, std::size_t batches) {
  const std::size_t useful = batches * (key.spectra / step_spectra) / least_steps;
  return std::max<std::size_t>(1, std::min(wanted_copies(device, key, tuning), useful));
}

/// Voltages of all values but -128, which repeat after four million.
void set_voltages(const command_queue& queue, const device_array& array) {
  const std::size_t bytes = array.layout().bytes();
  std::vector<std::int8_t> numbers(std::min<std::size_t>(bytes, std::size_t{1} << 22));
  std::uint32_t state = 1;
  for (std::int8_t& number : numbers) {
    state = state * 1664525U + 1013904223U;
    number = static_cast<std::int8_t>(static_cast<int>((state >> 16) % 255) - 127);
  }
  command_queue writer = queue;
  for (std::size_t at = 0; at < bytes; at += numbers.size()) {
    writer.write(array.buffer(), numbers.data(), std::min(numbers.size(), bytes - at), at);
  }
}

/// Voltages of few channels, and their visibilities by the host. The first batch is left out.
struct known_correlation {
  explicit known_correlation(const command_queue& its_queue, const correlate_key& of)
      : key{.antennas = of.antennas,
            .channels = of.antennas > 128 ? 1U : 2U,
            .spectra = of.spectra,
            .bits = of.bits},
        batches(1 + divide_up(2 * least_steps * step_spectra, key.spectra)),
        queue(its_queue),
        in({batches, key.antennas, key.channels, key.spectra, 2, 2}),
        sums({1, key.channels, baseline_count(key.antennas), 4, 2}) {
    std::uint32_t state = 5;
    for (std::size_t i = 0; i < in.layout().bytes(); ++i) {
      state = state * 1664525U + 1013904223U;
      const int most = key.bits == 8 ? 127 : 7;
      const int drawn = static_cast<int>((state >> 16) % (2 * most + 1)) - most;
      in.data()[i] =
          static_cast<std::int8_t>(state >> 30 == 0 ? (drawn < 0 ? -most : most) : drawn);
    }
    sums.fill(0);
    correlate_on_host(in, {1, batches}, sums);
  }

  std::optional<std::string> find_wrong(const program& built,
                                        const correlate_tuning& tuning) const {
    correlate op(queue, built, tuning, key, batches);
    op.set_batches({1, batches});
    // Sums reach beyond 32 bits.
    host_array<std::int64_t> before({op.copies(), key.channels, sums.size()[2], 4, 2});
    before.fill(std::int64_t{-4} << 30);
    workload work(queue);
    if (key.bits == 8) {
      work.set("in", in);
    } else {
      work.set("in", packed_voltages(in));
    }
    work.set("visibilities", std::move(before));
    answer expected;
    expected.verify(
        [this](command_queue& on, const std::vector<answer::result>& results) {
          return compare(on, results);
        },
        {"visibilities"});
    return find_fault(op, work, expected);
  }

  std::optional<std::string> compare(command_queue& on,
                                     const std::vector<answer::result>& results) const {
    const auto found = std::ranges::find(results, "visibilities", &answer::result::first);
    const auto got = found->second.get<std::int64_t>(on);
    const std::size_t copies = got.size()[0];
    const std::size_t numbers = sums.layout().bytes() / sizeof(std::int64_t);
    for (std::size_t i = 0; i < numbers; ++i) {
      std::int64_t sum = 0;
      for (std::size_t copy = 0; copy < copies; ++copy) sum += got.data()[copy * numbers + i];
      const std::int64_t right =
          sums.data()[i] + static_cast<std::int64_t>(copies) * (std::int64_t{-4} << 30);
      if (sum == right) continue;
      return fmt::format("visibility {} of baseline {}, channel {}: {} instead of {}", i % 8 / 2,
                         i / 8 % sums.size()[2], i / 8 / sums.size()[2], sum, right);
    }
    return std::nullopt;
  }

  correlate_key key;
  std::size_t batches;
  command_queue queue;
  host_array<std::int8_t> in;
  host_array<std::int64_t> sums;
};

/// The batches and channels that are timed: those of a GPU in earnest, and few for a CPU.
struct timed_correlation {
  timed_correlation(const tuning_session& session, const correlate_key& of) : key(of) {
    const device device = session.context().device();
    const std::size_t batch_bytes = key.antennas * key.channels * key.spectra * word_bytes(key);
    if (device.kind() == device_kind::gpu) {
      batches = std::clamp<std::size_t>(workload_bytes(session) / batch_bytes, 8, 64);
      const std::size_t most =
          std::min(device.limits().global_memory_bytes, session.memory_budget()) / 8;
      batches = std::max<std::size_t>(1, std::min(batches, most / batch_bytes));
    } else {
      key.channels = 1;
      const std::size_t products = baseline_count(key.antennas) * key.spectra * 16;
      batches = std::clamp<std::size_t>((std::size_t{1} << 24) / products, 1, 64);
    }
  }

  correlate_key key;
  std::size_t batches = 1;
};

instruction best_instruction(const device& device) {
  const auto has = device.info().hardware.compute_capability;
  if (device.info().language != kernel_language::cuda_cpp || !has) return instruction::plain;
  if (has->major >= 8) return instruction::mma_k32;
  if (has->major == 7 || (has->major == 6 && has->minor > 0)) return instruction::dp4a;
  return instruction::plain;
}

/// True if a device has the instruction wgmma_k32, which is of one generation only.
bool has_wgmma(const device& device) {
  const auto has = device.info().hardware.compute_capability;
  return device.info().language == kernel_language::cuda_cpp && has && has->major == 9 &&
         has->minor == 0;
}

bool is_wgmma(const correlate_tuning& tuning) noexcept {
  return tuning.instruction == instruction::wgmma_k32;
}

// Ascending.
const std::vector<std::size_t> hopper_warps{1, 2, 3, 4, 8, 12, 16};
const std::vector<std::size_t> tensor_warps{4, 8, 12, 16};
const std::vector<std::size_t> other_warps{1, 2, 4, 8, 16};

void add_tensor_candidates(space<correlate_tuning>& space, const correlate_key& key) {
  using t = correlate_tuning;
  // k16 was 1.2 times slower wherever it was measured.
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
  // More had no effect: the memory is not what is waited for.
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
  // What reads, adds and writes was no faster wherever it was measured.
  space.add(&t::atomics, {true});
  space.add(&t::waves, {1, 2, 4});
  space.restrict(
      [](const t& c) {
        if (is_wgmma(c)) return c.tile_m == 4 && c.tile_n % 4 == 0;
        return c.tile_m < 4 && (c.tile_m * c.tile_n == 4 || c.tile_m * c.tile_n == 5);
      },
      "tiles of 4 or 5 blocks, but 16 or 32 by wgmma", &t::instruction, &t::tile_m, &t::tile_n);
  // So were all that won on an H200.
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

/// Leaves out what differs from another configuration in name only, or does not fit a device.
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

correlate::correlate(const command_queue& queue, const program& built,
                     const correlate_tuning& tuning, const correlate_key& key, std::size_t batches)
    : operation(queue),
      kernel_(built.create_kernel("correlate")),
      tuning_(tuning),
      key_(key),
      slot_batches_(batches),
      copies_(copy_count(queue.device(), key, tuning, batches)),
      batches_{0, batches},
      in_(add_slot("in", voltages_dimensions(key, batches), voltages_type(key))),
      visibilities_(add_slot<std::int64_t>(
          "visibilities", {copies_, key.channels, baseline_count(key.antennas), 4, 2})) {
  const tile_plan plan = plan_for(key, tuning);
  const std::size_t groups = plan.groups.size() * key.channels;
  if (groups > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw argument_error(fmt::format(
        "{} channels of {} antennas make {} work groups, more than a launch can have; correlate "
        "a part of the channels at a time",
        key.channels, key.antennas, groups));
  }
  const std::size_t items = plan.warps() * tile_warps(tuning) * warp_items;
  range_ = {.global = {groups * items, copies_},
            .local = {items, 1},
            .local_memory_bytes = local_memory_bytes(key, tuning, plan)};
}

void correlate::set_batches(const batch_range& range) {
  if (range.begin > range.end || range.end > slot_batches_) {
    throw argument_error(
        fmt::format("correlate cannot add the batches from {} to {} of {}; the range has to be in "
                    "them",
                    range.begin, range.end, slot_batches_));
  }
  if (range.begin == batches_.begin && range.end == batches_.end) return;
  batches_ = range;
  parameters_changed();
}

void correlate::zero() {
  ensure_bound("visibilities");
  visibilities_->buffer().zero(queue());
}

void correlate::do_run() {
  const std::size_t batch_steps = key_.spectra / step_spectra;
  const std::uint64_t antenna_stride = key_.channels * key_.spectra * word_bytes(key_);
  const std::uint64_t end = batches_.end * batch_steps;
  const std::uint64_t most = copies_ * most_steps;
  for (std::uint64_t begin = batches_.begin * batch_steps; begin < end; begin += most) {
    const std::uint64_t count = std::min(most, end - begin);
    const std::uint64_t each = round_up(divide_up(count, copies_), tuning_.steps);
    enqueue(kernel_, range_, visibilities_, in_, antenna_stride, begin,
            static_cast<std::uint32_t>(count), static_cast<std::uint32_t>(each),
            std::numeric_limits<std::uint32_t>::max());
  }
}

std::vector<named_value> correlate::do_parameters() const {
  return parameter_list()
      .add("shape", shape{slot_batches_, key_.antennas, key_.channels, key_.spectra})
      .add("begin", batches_.begin)
      .add("end", batches_.end)
      .add("copies", copies_)
      .add("tuning", tuning_);
}

correlate_template::correlate_template(const context& context, const correlate_key& key,
                                       const std::optional<correlate_tuning>& tuning)
    : key_((check_key(key), key)),
      tuning_(tuning ? *tuning : autotune(context, key)),
      program_((check_tuning(key, tuning_), build(context, key, tuning_))) {}

correlate correlate_template::instantiate(const command_queue& queue, std::size_t batches) const {
  return {queue, program_, tuning_, key_, batches};
}

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

const autotuner<correlate_key, correlate_tuning> correlate_template::autotune{
    {.name = "operations.correlate_template.autotune", .version = 2, .test = {}},
    [](tuning_session& session, const correlate_key& key) {
      const context& context = session.context();
      auto queue = context.create_tuning_command_queue();
      const timed_correlation timed(session, key);
      const device_array in(context, {voltages_type(key), voltages_size(timed.key, timed.batches)});
      set_voltages(queue, in);
      const workload work(queue);
      const known_correlation known(queue, key);
      const double operations = 32.0 * static_cast<double>(baseline_count(key.antennas)) *
                                static_cast<double>(timed.key.channels * key.spectra) *
                                static_cast<double>(timed.batches);
      const auto bytes = static_cast<double>(in.layout().bytes());
      return session.tune(tuning_space(key, context.device()), [&](const correlate_tuning& tuning) {
        const program built = build(context, key, tuning);
        correlate op(queue, built, tuning, timed.key, timed.batches);
        op.bind("in", in);
        // What is measured is looked at as far as its bounds go.
        return make_measure(queue, std::move(op), work, answer())
            .work({.flops = operations, .bytes = bytes})
            .check([=] { return known.find_wrong(built, tuning); });
      });
    }};

}  // namespace tune::operations
