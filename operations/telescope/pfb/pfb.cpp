// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/telescope/pfb/pfb.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <limits>
#include <span>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "libtune/operation/remaking.hpp"
#include "libtune/tune/tuned_by.hpp"
#include "libtune/verify/answer.hpp"
#include "operations/possible_tuning.hpp"
#include "operations/telescope/pfb/tuning/pfb_case.hpp"
#include "operations/workload.hpp"

#include "packed_samples.kernel.hpp"
#include "pfb.kernel.hpp"

namespace tune::operations {
namespace {

constexpr std::size_t polarisations_of_launch = 4;  // the kernel's number of offsets
constexpr std::size_t most_divisions = 1024;        // divisions of the spectra of a run
// The start of an item takes as long as this many spectra.
constexpr std::size_t spectra_of_start = 8;

pfb_key checked_key(const pfb_key& key) {
  if (key.bits != 0) check_packed_bits(key.bits, "pfb");
  if (key.taps == 0 || (key.unzip != 1 && key.unzip != 2 && key.unzip != 4)) {
    throw argument_error(fmt::format(
        "pfb cannot have {} taps and spectra for {} transforms; it has one tap or more, "
        "and 1, 2 or 4 transforms",
        key.taps, key.unzip));
  }
  return key;
}

pfb_key exact_key(const ranged_pfb_key& key) {
  return {.taps = key.taps, .bits = key.bits, .unzip = key.unzip};
}

ranged_pfb_key checked_key(const ranged_pfb_key& key) {
  static_cast<void>(checked_key(exact_key(key)));
  const size_range& channels = key.channels;
  if (channels.multiple() % pfb_channel_multiple != 0 || channels.high() > most_pfb_channels) {
    throw argument_error(
        fmt::format("pfb cannot make {} channels; their range has a multiple of {}, and ends at {} "
                    "at most: size_range(16, 4096, range_scale::logarithmic, 16)",
                    channels.text(), pfb_channel_multiple, most_pfb_channels));
  }
  return key;
}

/// True if a program with this tuning is possible for a key.
bool is_tuning_of(const pfb_key& key, const pfb_tuning& t) {
  const bool has_width = t.adjacent == 2 || t.adjacent == 4 || t.adjacent == 8;
  return is_group(t.wgs) && (has_width || (t.adjacent == 1 && key.bits != 0));
}

pfb_tuning checked_tuning(const pfb_key& key, const pfb_tuning& t) {
  if (is_tuning_of(key, t)) return t;
  throw argument_error(
      fmt::format("pfb cannot have the tuning {} for samples of {} bits; adjacent is 2, 4 or 8, or "
                  "1 for real samples, and wgs 1 to 4096",
                  to_string(to_values(t)), key.bits));
}

program build(const context& context, const pfb_key& key, const pfb_tuning& tuning) {
  const std::string_view packed = key.bits != 0 ? embedded::packed_samples_kernel : "";
  return compile(context, {"pfb.kernel", std::string(packed) + std::string(embedded::pfb_kernel)},
                 defines(key)
                     .add("wgs", static_cast<int>(tuning.wgs))
                     .add("adjacent", static_cast<int>(tuning.adjacent))
                     .add("wide", tuning.wide ? 1 : 0));
}

/// Returns the bytes of a group's blocks of rows in local memory.
std::size_t block_bytes(const pfb_key& key, const pfb_tuning& t) {
  const std::size_t rows = (7 + key.taps) / key.taps * key.taps;
  const std::size_t floats = t.wgs * t.adjacent;
  const std::size_t row_bytes =
      key.bits != 0 ? (divide_up(floats * key.bits, 32) + 1) * 4 : floats * 4;
  constexpr std::size_t piece = 16;
  return 2 * rows * (t.wide ? round_up(row_bytes + piece, piece) : row_bytes);
}

/// Returns the number of spectra from the first sample on.
std::size_t spectra_within(const pfb_key& key, const pfb_shape& shape, std::size_t step) {
  const std::size_t rows = shape.samples / step;
  return rows < key.taps ? 0 : std::min(rows - key.taps + 1, shape.spectra);
}

std::vector<dimension> sample_dimensions(const pfb_key& key, const pfb_shape& shape) {
  if (key.bits == 0) return {shape.polarisations, shape.samples};
  return {shape.polarisations,
          dimension(packed_row_bytes(shape.samples, key.bits), {.alignment = 4})};
}

/// Returns the number of work groups that the device runs at the same time, or an estimate.
std::size_t groups_at_once(const device& device, const kernel& kernel, const pfb_tuning& tuning) {
  const bool is_gpu = device.kind() == device_kind::gpu;
  const auto guess = is_gpu ? std::max<std::size_t>(1, 512 / tuning.wgs) : 1;
  return std::max<std::size_t>(1, device.limits().compute_units) *
         std::max<std::size_t>(1, kernel.resident_work_groups(tuning.wgs).value_or(guess));
}

/// The shape of two polarisations with enough rows of samples for all spectra.
pfb_shape shape_of(const pfb_key& key, std::size_t channels, std::size_t spectra) {
  pfb_shape shape{.polarisations = 2, .channels = channels, .samples = 0, .spectra = spectra};
  shape.samples = (spectra + key.taps - 1) * step_of(key, shape);
  return shape;
}

std::size_t sample_bytes(const pfb_key& key, const pfb_shape& shape) {
  return shape.polarisations *
         (key.bits != 0 ? packed_row_bytes(shape.samples, key.bits) : shape.samples * 8);
}

/// The measured shape: 16384 channels, and as many spectra as the workload memory allows.
pfb_shape measured_shape(const tuning_session& session, const pfb_key& key) {
  const bool is_gpu = session.context().device().kind() == device_kind::gpu;
  const std::size_t channels = is_gpu ? 16384 : 1024;
  const std::size_t bytes = is_gpu ? workload_bytes(session) / 4 : computed_workload_bytes(session);
  return shape_of(key, channels, std::max<std::size_t>(4, bytes / (2 * channels * 8)));
}

/// Finds the best tuning for one shape.
pfb_tuning tune_at(tuning_session& session, const pfb_key& key, const pfb_shape& shape) {
  const context& context = session.context();
  auto queue = context.create_tuning_command_queue();
  const std::size_t step = step_of(key, shape);
  const bool is_real = key.bits != 0;
  const std::size_t row = is_real ? packed_row_bytes(shape.samples, key.bits) : shape.samples;
  const device_array samples(
      context, {is_real ? dtype::uint8 : dtype::complex64, {shape.polarisations, row}});
  samples.zero(queue);
  const device_array weights(context, {dtype::float32, {key.taps * step}});
  weights.zero(queue);
  const workload work(queue);
  const on_demand<std::vector<pfb_case>> known([=] {
    std::vector<pfb_case> cases;
    cases.emplace_back(queue, key,
                       pfb_shape{.polarisations = 3,
                                 .channels = 16,
                                 .samples = (2 * key.taps + 8) * (is_real ? 32 : 16) + 77,
                                 .spectra = key.taps + 9},
                       pfb_range{{77, 0, 31}, 2, key.taps + 6});
    cases.emplace_back(queue, key,
                       pfb_shape{.polarisations = 1,
                                 .channels = 1040,
                                 .samples = (key.taps + 4) * (is_real ? 2080 : 1040) + 5,
                                 .spectra = 5,
                                 .last_first = true},
                       pfb_range{{5}, 0, 5});
    constexpr std::size_t few = std::size_t{1} << 12;  // number that the host filters at once
    if (shape.spectra * shape.channels <= few) {
      cases.emplace_back(queue, key, shape, pfb_range{{0, 0}, 0, shape.spectra});
    }
    return cases;
  });
  const auto outputs = static_cast<double>(shape.polarisations * shape.spectra * shape.channels);
  const double bytes = static_cast<double>(samples.layout().bytes()) + 8 * outputs;
  const double flops = 4 * static_cast<double>(key.taps) * outputs;
  return session.tune(tuning_space(key), [&](const pfb_tuning& tuning) {
    const program built = build(context, key, tuning);
    pfb op(queue, built, tuning, key, shape);
    op.bind("samples", samples);
    op.bind("weights", weights);
    return make_checked_measure(queue, std::move(op), work, built, tuning, known)
        .work({.flops = flops, .bytes = bytes, .arithmetic = arithmetic::float32});
  });
}

}  // namespace

pfb::pfb(const command_queue& queue, const program& built, const pfb_tuning& tuning,
         const pfb_key& key, const pfb_shape& shape)
    : operation(queue),
      kernel_(built.create_kernel("pfb")),
      key_(key),
      tuning_(tuning),
      shape_(shape),
      step_(step_of(key, shape)),
      samples_(add_slot("samples", sample_dimensions(key, shape),
                        key.bits != 0 ? dtype::uint8 : dtype::complex64,
                        padding_policy::any_valid)),
      weights_(add_slot("weights", {key.taps * step_}, dtype::float32)),
      spectra_(add_slot("spectra",
                        {shape.polarisations, dimension(shape.spectra, {.exact = true}),
                         dimension(key.unzip, {.exact = true}),
                         dimension(shape.channels / key.unzip, {.exact = true})},
                        dtype::complex64)),
      offsets_(round_up(shape.polarisations, polarisations_of_launch)),
      count_(spectra_within(key, shape, step_)),
      groups_at_once_(groups_at_once(queue.device(), kernel_, tuning)) {
  choose_parts();
  if (key.bits != 0) total_power_ = add_slot("total_power", {shape.polarisations}, dtype::uint64);
}

void pfb::set_range(std::span<const std::uint64_t> offsets, std::size_t first_spectrum,
                    std::size_t spectra) {
  if (offsets.size() != shape_.polarisations) {
    throw argument_error(fmt::format("pfb has {} polarisations, and was given offsets for {}",
                                     shape_.polarisations, offsets.size()));
  }
  if (first_spectrum > shape_.spectra || spectra > shape_.spectra - first_spectrum) {
    throw argument_error(
        fmt::format("pfb cannot write {} spectra from place {} on; its slot has room for {}",
                    spectra, first_spectrum, shape_.spectra));
  }
  for (const std::uint64_t offset : offsets) {
    const std::size_t rows = offset > shape_.samples ? 0 : (shape_.samples - offset) / step_;
    if (spectra == 0 || (rows >= key_.taps && rows - key_.taps + 1 >= spectra)) continue;
    throw argument_error(fmt::format(
        "pfb cannot make {} spectra from sample {} on: they take {} rows of {} samples, "
        "and its slot has {} samples",
        spectra, offset, spectra + key_.taps - 1, step_, shape_.samples));
  }
  std::ranges::copy(offsets, offsets_.begin());
  first_ = first_spectrum;
  count_ = spectra;
  choose_parts();
  parameters_changed();
}

// Groups run in waves of as many as the device holds. Spectra are divided into parts so that the
// waves are nearly full, and few items start again.
void pfb::choose_parts() {
  const std::size_t columns =
      divide_up(2 * shape_.channels / tuning_.adjacent, tuning_.wgs) * shape_.polarisations;
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (std::size_t parts = 1; parts <= std::min(count_, most_divisions); ++parts) {
    const std::size_t length = divide_up(count_, parts);
    const std::size_t waves = divide_up(columns * divide_up(count_, length), groups_at_once_);
    const std::size_t time = waves * (length + spectra_of_start);
    if (time >= least) continue;
    least = time;
    per_item_ = length;
  }
}

void pfb::do_run() {
  if (count_ == 0 || shape_.polarisations == 0) return;
  const std::size_t positions = 2 * shape_.channels / tuning_.adjacent;
  const std::uint64_t row = key_.bits != 0 ? step_ * key_.bits / 32 : step_;
  const std::uint64_t pitch =
      samples_->buffer().layout().padded()[1] / (key_.bits != 0 ? sizeof(std::uint32_t) : 1);
  for (std::size_t p = 0; p < shape_.polarisations; p += polarisations_of_launch) {
    const nd_range range{{round_up(positions, tuning_.wgs), divide_up(count_, per_item_),
                          std::min(polarisations_of_launch, shape_.polarisations - p)},
                         {tuning_.wgs, 1, 1}};
    const auto launch = [&](const auto&... outputs) {
      enqueue(kernel_, range, outputs..., samples_, weights_, std::uint64_t{step_}, row, pitch,
              offsets_[p], offsets_[p + 1], offsets_[p + 2], offsets_[p + 3],
              std::uint64_t{shape_.channels}, std::uint64_t{shape_.spectra}, std::uint64_t{first_},
              static_cast<std::uint32_t>(count_), static_cast<std::uint32_t>(per_item_),
              static_cast<std::uint32_t>(p), static_cast<std::uint32_t>(positions),
              std::uint32_t{shape_.last_first ? 1U : 0U});
    };
    total_power_ ? launch(spectra_, *total_power_) : launch(spectra_);
  }
}

std::vector<named_value> pfb::do_parameters() const {
  return parameter_list()
      .add("key", key_)
      .add("shape", shape_)
      .add("offsets",
           fmt::format("{}", fmt::join(std::span(offsets_).first(shape_.polarisations), ",")))
      .add("first_spectrum", first_)
      .add("spectra", count_)
      .add("tuning", tuning_);
}

pfb_template::pfb_template(const context& context, const pfb_key& key,
                           const std::optional<pfb_tuning>& tuning)
    : key_(checked_key(key)),
      tuning_(checked_tuning(key_, tuning ? *tuning : autotune(context, key_))),
      program_(build(context, key_, tuning_)) {}

pfb pfb_template::instantiate(const command_queue& queue, const pfb_shape& shape) const {
  return {queue, program_, tuning_, key_, shape};
}

ranged_pfb_template::ranged_pfb_template(const context& context, const ranged_pfb_key& key)
    : key_(exact_key(checked_key(key))), portfolio_(autotune.portfolio(context, key)) {
  for (const pfb_tuning& each : portfolio_.tunings()) {
    programs_.push_back(build(context, key_, checked_tuning(key_, each)));
  }
}

pfb ranged_pfb_template::instantiate(const command_queue& queue, const pfb_shape& shape) const {
  const std::size_t spectra = spectra_within(key_, shape, step_of(key_, shape));
  const std::size_t chosen = portfolio_.choose({shape.channels, spectra});
  return {queue, programs_[chosen], portfolio_.tunings()[chosen], key_, shape};
}

space<pfb_tuning> tuning_space(const pfb_key& key) {
  using t = pfb_tuning;
  space<t> space;
  space.add(&t::wgs, {64, 128, 256});
  space.add(&t::adjacent,
            key.bits != 0 ? std::vector<std::size_t>{1, 2, 4} : std::vector<std::size_t>{2, 4});
  space.add(&t::wide, {false, true});
  space.restrict([key](const t& c) { return c.adjacent <= 2 || c.adjacent * key.taps <= 32; },
                 "32 registers for the samples", &t::adjacent);
  space.restrict([](const t& c) { return c.adjacent == 1 ? c.wgs != 64 : c.wgs != 256; },
                 "256 items where an item has one float, 64 where it has more", &t::wgs,
                 &t::adjacent);
  space.needs([key](const t& c) {
    return resources{.work_group = {c.wgs, 1, 1},
                     .local_memory_bytes = block_bytes(key, c) + c.wgs * 8};
  });
  return space;
}

const autotuner<pfb_key, pfb_tuning> pfb_template::autotune{
    {.name = "operations.pfb_template.autotune", .version = 3, .test = {}},
    [](tuning_session& session, const pfb_key& key) {
      return tune_at(session, key, measured_shape(session, key));
    }};

const ranged_autotuner<ranged_pfb_key, pfb_tuning> ranged_pfb_template::autotune{
    {.name = "operations.ranged_pfb_template.autotune",
     .version = 0,
     .test = {},
     .features = {},
     // Partial groups are allowed, and there are at most 1024 parts of the spectra.
     .fits = [](const pfb_tuning&, std::span<const std::uint64_t>) { return true; },
     .limits = {},
     .goal = {}},
    [](tuning_session& session, const ranged_pfb_key& key, std::span<const std::uint64_t> sizes) {
      const pfb_key exact = exact_key(key);
      const pfb_shape shape = shape_of(exact, sizes[0], sizes[1]);
      require_memory(session, 2 * sample_bytes(exact, shape) +
                                  2 * shape.polarisations * shape.spectra * shape.channels * 8);
      return tune_at(session, exact, shape);
    }};

namespace {
std::vector<std::uint64_t> offsets_of(const remade_parameters& from) {
  std::istringstream text(from.get<std::string>("offsets"));
  std::vector<std::uint64_t> offsets;
  for (std::string each; std::getline(text, each, ',');) offsets.push_back(std::stoull(each));
  return offsets;
}

const remaker<pfb> remake_pfb{[](const command_queue& queue, const remade_parameters& from) {
  pfb made = pfb_template(queue.context(), from.get<pfb_key>("key"), from.get<pfb_tuning>("tuning"))
                 .instantiate(queue, from.get<pfb_shape>("shape"));
  made.set_range(offsets_of(from), from.get<std::size_t>("first_spectrum"),
                 from.get<std::size_t>("spectra"));
  return made;
}};

const tuned_by<pfb> pfb_is_tuned{
    pfb_template::autotune, [](const remade_parameters& from) { return from.get<pfb_key>("key"); },
    [](const remade_parameters& from) {
      tuned_results results{{"spectra", tolerance::signal_to_noise(100)}};
      if (from.get<pfb_key>("key").bits != 0) results.emplace("total_power", tolerance::exact());
      return results;
    }};
}  // namespace

}  // namespace tune::operations
