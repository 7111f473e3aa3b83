// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/telescope/ddc/ddc.hpp"

#include <algorithm>
#include <complex>
#include <fmt/format.h>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "libtune/operation/remaking.hpp"
#include "libtune/tune/tuned_by.hpp"
#include "libtune/verify/answer.hpp"
#include "operations/telescope/ddc/reference.hpp"
#include "operations/workload.hpp"

#include "ddc.kernel.hpp"
#include "packed_samples.kernel.hpp"

namespace tune::operations {
namespace {

constexpr std::size_t most_tensor_bits = 12;  // a 16-bit float holds these exactly
constexpr std::size_t outputs_of_tile = 128;  // outputs of one product in tensor units

ddc_key checked_key(const ddc_key& key) {
  check_packed_bits(key.bits, "ddc");
  constexpr std::size_t most = std::size_t{1} << 20;  // keeps products of sizes from overflowing
  if (key.taps != 0 && key.subsampling != 0 && key.taps <= most && key.subsampling <= most) {
    return key;
  }
  throw argument_error(
      fmt::format("ddc cannot have {} taps and a subsampling of {}; each is 1 to {}", key.taps,
                  key.subsampling, most));
}

/// The local memory of a group, as divided in its kernel.
std::size_t local_bytes(const ddc_key& key, const ddc_tuning& t);

bool is_possible(const ddc_key& key, const ddc_tuning& t) {
  const bool is_group = t.wgs >= 32 && t.wgs % 32 == 0 && t.wgs <= 1024;
  if (!is_group) return false;
  if (!t.tensor) return t.outputs >= 4 && t.outputs % 4 == 0 && t.outputs <= 32;
  const bool has_tiles = t.outputs == 1 || t.outputs == 2 || (t.outputs % 4 == 0 && t.outputs != 0);
  return has_tiles && t.outputs <= 16 && t.wgs * t.outputs % outputs_of_tile == 0 &&
         key.bits <= most_tensor_bits;
}

ddc_tuning checked_tuning(const ddc_key& key, const ddc_tuning& t) {
  if (is_possible(key, t)) return t;
  throw argument_error(fmt::format(
      "ddc of {} bits cannot have the tuning {}; groups have a multiple of 32 items, with 4, 8, 12 "
      "... "
      "outputs each, or in tensor units, for up to {} bits, 1, 2, 4, 8 ... and {} at least in all",
      key.bits, to_string(to_values(t)), most_tensor_bits, outputs_of_tile));
}

std::size_t staged_phases(const ddc_key& key) { return std::min<std::size_t>(key.subsampling, 8); }

std::size_t tensor_local_bytes(const ddc_key& key, const ddc_tuning& t) {
  const std::size_t s = key.subsampling;
  const std::size_t steps = divide_up(key.taps + 7 * s, 16);
  const std::size_t common = std::gcd(s, std::size_t{8});
  const std::size_t tiles = t.wgs * t.outputs / outputs_of_tile;
  const std::size_t units = s * (16 * tiles - 1) + 2 * steps;
  const std::size_t placed = (units + units / (s * 8 / common) + 8) / 8 * 8;
  const std::size_t table = (14 * s + key.taps + 32) / (s % 2 == 0 ? 2 : 1);
  const std::size_t parts = t.outputs < 4 ? t.wgs * 2 : 0;  // partial sums to add
  return std::max(placed + table, parts) * 16;
}

std::size_t scalar_local_bytes(const ddc_key& key, const ddc_tuning& t) {
  const std::size_t tap_row = round_up(divide_up(key.taps, key.subsampling), 4);
  const std::size_t place = t.outputs / 4 % 2 == 0 ? t.outputs + 4 : t.outputs;
  const std::size_t sample_row = divide_up(t.wgs * t.outputs + tap_row, t.outputs) * place;
  return staged_phases(key) * (sample_row * 4 + tap_row * 8);
}

std::size_t local_bytes(const ddc_key& key, const ddc_tuning& t) {
  return t.tensor ? tensor_local_bytes(key, t) : scalar_local_bytes(key, t);
}

program build(const context& context, const ddc_key& key, const ddc_tuning& tuning) {
  return compile(context,
                 {"ddc.kernel",
                  std::string(embedded::packed_samples_kernel) + std::string(embedded::ddc_kernel)},
                 defines(key, tuning).add("staged_phases", static_cast<int>(staged_phases(key))));
}

/// A short down-conversion that the host computes, too: whole and partial groups, and the ends of
/// rows.
struct ddc_case {
  ddc_case(command_queue queue, const ddc_key& its_key)
      : key(its_key),
        count(key.taps +
              key.subsampling * std::clamp<std::size_t>((1U << 20) / key.taps, 130, 1300)),
        work(std::move(queue)) {
    std::uint32_t state = 1;
    host_array<std::uint8_t> samples({2, packed_row_bytes(count, key.bits)});
    for (std::size_t i = 0; i < 2 * samples.size()[1]; ++i) {
      samples.data()[i] = static_cast<std::uint8_t>(next_number(state) >> 24);
    }
    host_array<std::complex<float>> taps({key.taps});
    for (std::size_t k = 0; k < key.taps; ++k) {
      taps(k) = {static_cast<float>(static_cast<std::int32_t>(next_number(state))) * 0x1p-34F,
                 static_cast<float>(static_cast<std::int32_t>(next_number(state))) * 0x1p-34F};
    }
    auto out = ddc_on_host(key, samples, {taps.data(), key.taps}, count, step, phase);
    float largest = 0;
    for (std::size_t i = 0; i < 2 * out.size()[1]; ++i) {
      largest = std::max(largest, std::abs(out.data()[i]));
    }
    expected.add("out", std::move(out), {.absolute = 1e-5 * static_cast<double>(largest)})
        .report_accuracy();
    work.set("samples", std::move(samples));
    work.set("taps", std::move(taps));
  }

  std::optional<std::string> find_wrong(const program& built, const ddc_tuning& tuning,
                                        accuracy& measured) const {
    ddc op(work.queue(), built, tuning, key, 2, count);
    op.set_mixer(step, phase);
    auto wrong = find_fault(op, work, expected, measured);
    if (wrong) wrong = fmt::format("of {} samples: {}", count, *wrong);
    return wrong;
  }

  static constexpr std::uint64_t step = 0x123456789ABCDEF0U;
  static constexpr std::uint64_t phase = 0xF0F0F0F0F0F0F0F0U;
  ddc_key key;
  std::size_t count;
  workload work;
  answer expected;
};

}  // namespace

std::size_t ddc_outputs(std::size_t samples, std::size_t taps, std::size_t subsampling) noexcept {
  return samples < taps || subsampling == 0 ? 0 : (samples - taps) / subsampling + 1;
}

bool has_ddc_tensor_units(const device& device) { return cuda_generation(device) >= 80; }

ddc::ddc(const command_queue& queue, const program& built, const ddc_tuning& tuning,
         const ddc_key& key, std::size_t polarisations, std::size_t samples)
    : operation(queue),
      kernel_(built.create_kernel("ddc")),
      key_(key),
      tuning_(tuning),
      polarisations_(polarisations),
      count_(samples),
      outputs_(ddc_outputs(samples, key.taps, key.subsampling)),
      samples_(add_slot(
          "samples",
          {polarisations, dimension(packed_row_bytes(samples, key.bits), {.alignment = 4})},
          dtype::uint8, padding_policy::any_valid)),
      taps_(add_slot("taps", {key.taps}, dtype::complex64)),
      out_(add_slot("out", {polarisations, dimension(outputs_, {.alignment = 2})}, dtype::complex64,
                    padding_policy::any_valid)) {}

void ddc::set_mixer(std::uint64_t step, std::uint64_t phase) noexcept {
  mixer_step_ = step;
  mixer_phase_ = phase;
  parameters_changed();
}

void ddc::do_run() {
  if (outputs_ == 0 || polarisations_ == 0) return;
  const std::size_t groups = divide_up(outputs_, tuning_.wgs * tuning_.outputs);
  const nd_range range{.global = {groups * tuning_.wgs, polarisations_},
                       .local = {tuning_.wgs, 1},
                       .local_memory_bytes = local_bytes(key_, tuning_)};
  const std::uint64_t row_words = samples_->buffer().layout().padded()[1] / sizeof(std::uint32_t);
  const std::uint64_t out_pitch = out_->buffer().layout().padded()[1];
  enqueue(kernel_, range, out_, samples_, taps_, row_words, out_pitch, std::uint64_t{outputs_},
          mixer_step_, mixer_phase_);
}

std::vector<named_value> ddc::do_parameters() const {
  return parameter_list()
      .add("key", key_)
      .add("polarisations", polarisations_)
      .add("samples", count_)
      .add("mixer_step", mixer_step_)
      .add("mixer_phase", mixer_phase_)
      .add("tuning", tuning_);
}

ddc_template::ddc_template(const context& context, const ddc_key& key,
                           const std::optional<ddc_tuning>& tuning)
    : key_(checked_key(key)),
      tuning_(checked_tuning(key, tuning ? *tuning : autotune(context, key_))),
      program_(build(context, key_, tuning_)) {}

ddc ddc_template::instantiate(const command_queue& queue, std::size_t polarisations,
                              std::size_t samples) const {
  if (samples < key_.taps) {
    throw argument_error(
        fmt::format("ddc with {} taps cannot make an output of {} samples", key_.taps, samples));
  }
  return {queue, program_, tuning_, key_, polarisations, samples};
}

space<ddc_tuning> tuning_space(const ddc_key& key, bool has_tensor_units) {
  using t = ddc_tuning;
  space<t> space;
  const bool has_tensor = has_tensor_units && key.bits <= most_tensor_bits;
  space.add(&t::tensor, has_tensor ? std::vector<bool>{true, false} : std::vector<bool>{false});
  space.add(&t::wgs, {64, 128, 256});
  space.add(&t::outputs, {1, 2, 4, 8, 16});
  space.restrict([key](const t& c) { return is_possible(key, c); },
                 "whole tiles in tensor units, else 4 outputs at least", &t::tensor, &t::wgs,
                 &t::outputs);
  space.restrict(
      [has_tensor](const t& c) {
        return c.tensor || !has_tensor || (c.wgs == 64 && c.outputs == 8);
      },
      "one without tensor units where there are any", &t::tensor, &t::wgs, &t::outputs);
  space.needs([key](const t& c) {
    return resources{.work_group = {c.wgs, 1, 1},
                     .local_memory_bytes = c.tensor ? std::size_t{128} : 0,
                     .dynamic_local_memory_bytes = local_bytes(key, c)};
  });
  return space;
}

const autotuner<ddc_key, ddc_tuning> ddc_template::autotune{
    {.name = "operations.ddc_template.autotune", .version = 0, .test = {}},
    [](tuning_session& session, const ddc_key& key) {
      const context& context = session.context();
      auto queue = context.create_tuning_command_queue();
      const bool is_gpu = context.device().kind() == device_kind::gpu;
      const std::size_t wanted = std::size_t{1} << (is_gpu ? 24 : 17);
      const std::size_t count = key.taps + std::min(wanted, workload_bytes(session) / 4);
      const device_array samples(context, {dtype::uint8, {2, packed_row_bytes(count, key.bits)}});
      samples.zero(queue);
      const device_array taps(context, {dtype::complex64, {key.taps}});
      taps.zero(queue);
      const workload work(queue);
      const ddc_case known(queue, key);
      const auto outputs = static_cast<double>(2 * ddc_outputs(count, key.taps, key.subsampling));
      const bool has_tensor_units = has_ddc_tensor_units(context.device());
      const declared_work useful{
          .flops = outputs * static_cast<double>(4 * key.taps + 6),
          .bytes = outputs * 8 + static_cast<double>(samples.layout().bytes()),
          .arithmetic = has_tensor_units ? arithmetic::undeclared : arithmetic::float32};
      const auto space = tuning_space(key, has_tensor_units);
      return session.tune(space, [&](const ddc_tuning& tuning) {
        const program built = build(context, key, tuning);
        ddc op(queue, built, tuning, key, 2, count);
        op.bind("samples", samples);
        op.bind("taps", taps);
        return make_checked_measure(queue, std::move(op), work, built, tuning, known).work(useful);
      });
    }};

namespace {
const remaker<ddc> remake_ddc{[](const command_queue& queue, const remade_parameters& from) {
  ddc made = ddc_template(queue.context(), from.get<ddc_key>("key"), from.get<ddc_tuning>("tuning"))
                 .instantiate(queue, from.get<std::size_t>("polarisations"),
                              from.get<std::size_t>("samples"));
  made.set_mixer(from.get<std::uint64_t>("mixer_step"), from.get<std::uint64_t>("mixer_phase"));
  return made;
}};

const tuned_by<ddc> ddc_is_tuned{
    ddc_template::autotune, [](const remade_parameters& from) { return from.get<ddc_key>("key"); },
    // Sums in another order, and tensor units have numbers of their own.
    [](const remade_parameters&) -> tuned_results {
      return {{"out", tolerance::signal_to_noise(80)}};
    }};
}  // namespace

}  // namespace tune::operations
