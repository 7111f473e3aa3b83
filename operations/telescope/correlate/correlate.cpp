// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/telescope/correlate/correlate.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <string>
#include <utility>

#include "libtune/operation/remaking.hpp"
#include "libtune/tune/tuned_by.hpp"
#include "libtune/verify/answer.hpp"
#include "operations/telescope/correlate/correlate_launch.hpp"
#include "operations/telescope/correlate/reference.hpp"
#include "operations/telescope/correlate/tile_plan.hpp"
#include "operations/workload.hpp"

#include "correlate.kernel.hpp"

namespace tune::operations {
namespace {

using instruction = correlate_instruction;

// The steps of one work group, after which sums of 32 bits may overflow: a step adds up to 16 * 2 *
// 127^2.
constexpr std::size_t most_steps = 4096;
// Fewer steps do not justify another copy of the accumulators.
constexpr std::size_t least_steps = 16;

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

program build(const context& context, const correlate_key& key, const correlate_tuning& tuning) {
  defines macros(tuning);
  macros.add("antennas", static_cast<int>(key.antennas));
  macros.add("spectra", static_cast<int>(key.spectra));
  macros.add("bits", static_cast<int>(key.bits));
  return compile(
      context,
      {"correlate.kernel", plan_for(key, tuning).text() + std::string(embedded::correlate_kernel)},
      macros,
      {.flags = tuning.instruction == instruction::wgmma_k32
                    ? std::vector<std::string>{"--gpu-architecture=sm_90a"}
                    : std::vector<std::string>{}});
}

std::size_t copy_count(const device& device, const correlate_key& key,
                       const correlate_tuning& tuning, std::size_t batches) {
  const std::size_t useful = batches * (key.spectra / step_spectra) / least_steps;
  return std::max<std::size_t>(1, std::min(wanted_copies(device, key, tuning), useful));
}

/// Fills with voltages of all values except -128, repeating after four million.
void set_voltages(const command_queue& queue, const device_array& array) {
  const std::size_t bytes = array.layout().bytes();
  std::vector<std::int8_t> numbers(std::min<std::size_t>(bytes, std::size_t{1} << 22));
  std::uint32_t state = 1;
  for (std::int8_t& number : numbers) {
    number = static_cast<std::int8_t>(static_cast<int>((next_number(state) >> 16) % 255) - 127);
  }
  command_queue writer = queue;
  write_again(writer, array.buffer(), bytes, std::as_bytes(std::span(numbers)));
}

/// Voltages of few channels, and their visibilities from the host. The first batch is excluded.
struct known_correlation {
  explicit known_correlation(command_queue its_queue, const correlate_key& of)
      : key{.antennas = of.antennas,
            .channels = of.antennas > 128 ? 1U : 2U,
            .spectra = of.spectra,
            .bits = of.bits},
        batches(1 + divide_up(2 * least_steps * step_spectra, key.spectra)),
        queue(std::move(its_queue)),
        in({batches, key.antennas, key.channels, key.spectra, 2, 2}),
        sums({1, key.channels, baseline_count(key.antennas), 4, 2}) {
    std::uint32_t state = 5;
    for (std::size_t i = 0; i < in.layout().bytes(); ++i) {
      const int most = key.bits == 8 ? 127 : 7;
      const int drawn = static_cast<int>((next_number(state) >> 16) % (2 * most + 1)) - most;
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
    // The sums exceed 32 bits.
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

/// The batches and channels to time: a realistic number on a GPU, and few on a CPU.
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
      .add("bits", key_.bits)
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
      // Other devices multiply with 32 bits, or four products at a time.
      const auto by = cuda_generation(context.device()) >= 80 ? arithmetic::tensor_int8
                                                              : arithmetic::undeclared;
      return session.tune(tuning_space(key, context.device()), [&](const correlate_tuning& tuning) {
        const program built = build(context, key, tuning);
        correlate op(queue, built, tuning, timed.key, timed.batches);
        op.bind("in", in);
        return make_checked_measure(queue, std::move(op), work, built, tuning, known)
            .work({.flops = operations, .bytes = bytes, .arithmetic = by});
      });
    }};

namespace {
const remaker<correlate> remake_correlate{[](const command_queue& queue,
                                             const remade_parameters& from) {
  const shape size = from.extents("shape");
  const correlate_key key{.antennas = size[1],
                          .channels = size[2],
                          .spectra = size[3],
                          .bits = from.get<std::size_t>("bits")};
  correlate made = correlate_template(queue.context(), key, from.get<correlate_tuning>("tuning"))
                       .instantiate(queue, size[0]);
  made.set_batches({from.get<std::size_t>("begin"), from.get<std::size_t>("end")});
  return made;
}};

const tuned_by<correlate> correlate_is_tuned{
    correlate_template::autotune,
    [](const remade_parameters& from) {
      const shape size = from.extents("shape");
      return correlate_key{.antennas = size[1],
                           .channels = size[2],
                           .spectra = size[3],
                           .bits = from.get<std::size_t>("bits")};
    },
    // Configurations have different numbers of copies of the visibilities.
    [](const remade_parameters&) { return tuned_results{}; }};
}  // namespace

}  // namespace tune::operations
