// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/telescope/quantise/quantise.hpp"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libtune/operation/remaking.hpp"
#include "libtune/tune/tuned_by.hpp"
#include "libtune/verify/answer.hpp"
#include "operations/possible_tuning.hpp"
#include "operations/telescope/quantise/reference.hpp"
#include "operations/workload.hpp"

#include "dither.kernel.hpp"
#include "quantise.kernel.hpp"

namespace tune::operations {
namespace {

constexpr std::size_t words_of_progress = 4;  // size of heap_progress in the kernel

void check_channels(const quantise_key& key, std::size_t channels) {
  if (channels != 0 && channels % (2 * key.unzip) == 0 && channels <= std::size_t{1} << 24) return;
  throw argument_error(
      fmt::format("quantise cannot make spectra of {} channels out of {} transforms; the channels "
                  "have to be a multiple of {}, and 2^24 at most",
                  channels, key.unzip, 2 * key.unzip));
}

quantise_key checked(const quantise_key& key) {
  if (key.unzip != 1 && key.unzip != 2 && key.unzip != 4) {
    throw argument_error(fmt::format(
        "quantise joins 1, 2 or 4 interleaved transforms to a spectrum, not {}", key.unzip));
  }
  if (key.bits != 8 && key.bits != 4) {
    throw argument_error(
        fmt::format("quantise makes parts of 8 or of 4 bits, not of {}", key.bits));
  }
  if (key.channels != 0) check_channels(key, key.channels);
  return key;
}

// A tile is within a heap, whose spectra are a multiple of 32; the items of a group write 16 bytes
// each.
void check_tuning(const quantise_key& key, const quantise_tuning& t) {
  const bool has_group =
      is_group(t.width, t.height) && std::has_single_bit(t.width) && std::has_single_bit(t.height);
  const bool has_tile = t.spectra >= 32 / key.bits && t.spectra <= 32 &&
                        std::has_single_bit(t.spectra) && t.spectra % t.height == 0;
  require_possible(
      has_group && has_tile && t.width * t.height >= t.spectra * key.bits / 32 && t.ahead <= 64,
      "quantise", t,
      "width and height are powers of 2, spectra are 4 (of 4 bits 8), 8, 16 or 32 and a "
      "multiple of height, and ahead is 64 at most");
}

program build(const context& context, const quantise_key& key, const quantise_tuning& tuning) {
  check_tuning(key, tuning);
  defines macros;
  macros.add("real", key.real ? 1 : 0);
  macros.add("unzip", static_cast<int>(key.unzip));
  macros.add("bits", static_cast<int>(key.bits));
  macros.add("has_dither", key.has_dither ? 1 : 0);
  macros.add("fixed_channels", static_cast<int>(key.channels));
  macros.add("most", key.bits == 8 ? 127 : 7);
  macros.add("width", static_cast<int>(tuning.width));
  macros.add("height", static_cast<int>(tuning.height));
  macros.add("spectra_of_tile", static_cast<int>(tuning.spectra));
  macros.add("together", tuning.together ? 1 : 0);
  macros.add("ahead", static_cast<int>(tuning.ahead));
  macros.add("resident_groups", static_cast<int>(std::max<std::size_t>(
                                    tuning.resident / (tuning.width * tuning.height), 1)));
  return compile(context,
                 {"quantise.kernel",
                  std::string(embedded::dither_kernel) + std::string(embedded::quantise_kernel)},
                 macros);
}

std::size_t channels_of_part(const quantise_key& key, const quantise_shape& shape) {
  return shape.channels / key.unzip;
}

std::size_t tiles_of_spectrum(const quantise_key& key, const quantise_tuning& tuning,
                              const quantise_shape& shape) {
  return divide_up(channels_of_part(key, shape) / 2, tuning.width);
}

std::size_t output_channels(const quantise_shape& shape) {
  return shape.end_channel - shape.first_channel;
}

/// Returns the shape with a default end of the channels replaced.
quantise_shape checked(const quantise_key& key, quantise_shape shape) {
  if (shape.polarisations != 2) {
    throw argument_error(
        fmt::format("quantise works on 2 polarisations, not on {}, because their values share "
                    "words of the output",
                    shape.polarisations));
  }
  check_channels(key, shape.channels);
  if (key.channels != 0 && shape.channels != key.channels) {
    throw argument_error(
        fmt::format("this template of quantise is for spectra of {} channels, not {}; make it "
                    "with channels = {}, or 0 for any",
                    key.channels, shape.channels, shape.channels));
  }
  if (shape.end_channel == 0) shape.end_channel = shape.channels;
  if (shape.first_channel >= shape.end_channel || shape.end_channel > shape.channels) {
    throw argument_error(
        fmt::format("quantise cannot put out the channels from {} to {} of {}; the range has to "
                    "be in them, and not empty",
                    shape.first_channel, shape.end_channel, shape.channels));
  }
  if (shape.spectra_per_heap == 0 || shape.spectra_per_heap % 32 != 0) {
    throw argument_error(fmt::format("quantise makes heaps of a multiple of 32 spectra, not of {}",
                                     shape.spectra_per_heap));
  }
  if (shape.spectra % shape.spectra_per_heap != 0 ||
      shape.spectra > std::numeric_limits<std::uint32_t>::max()) {
    throw argument_error(
        fmt::format("quantise cannot divide {} spectra into heaps of {}; give it whole heaps, and "
                    "fewer than 2^32 spectra",
                    shape.spectra, shape.spectra_per_heap));
  }
  return shape;
}

std::vector<std::size_t> output_size(const quantise_key& key, const quantise_shape& shape) {
  std::vector<std::size_t> size{shape.spectra / shape.spectra_per_heap, output_channels(shape),
                                shape.spectra_per_heap, 2};
  if (key.bits == 8) size.push_back(2);
  return size;
}

/// Spectra that the host quantises as well: with a width that no group divides, a cut, two heaps,
/// delays and phases of several turns, and values that saturate.
class known_spectra {
 public:
  known_spectra(const command_queue& queue, const quantise_key& key, std::size_t channels)
      : key_(key), shape_{.channels = channels}, work_(queue) {
    shape_.first_channel = channels > 16 ? 5 : 0;
    shape_.end_channel = channels > 16 ? channels - 6 : channels;
    shape_.spectra = channels > 1024 ? 32 : 64;
    shape_.spectra_per_heap = 32;
    quantise_input input = random_input(key, shape_);
    expected_ = std::make_shared<const quantise_output>(
        quantise_on_host(key, shape_, input, first_spectrum, seed));
    work_.set("spectra", std::move(input.spectra)).set("delay", std::move(input.delay));
    work_.set("phase", std::move(input.phase)).set("gains", std::move(input.gains));
    expect_quantised(
        answer_, [its_key = key_, expected = expected_](std::span<const std::uint8_t> out,
                                                        std::span<const std::uint32_t> saturated) {
          return find_misquantised(its_key, *expected, out.data(), saturated.data());
        });
  }

  std::optional<std::string> find_wrong(const program& built, const quantise_tuning& tuning) const {
    quantise op(work_.queue(), built, tuning, key_, shape_);
    op.set_first_spectrum(first_spectrum);
    op.set_seed(seed);
    auto wrong = find_fault(op, work_, answer_);
    if (wrong) wrong = fmt::format("of {} channels: {}", shape_.channels, *wrong);
    return wrong;
  }

 private:
  static constexpr std::uint64_t first_spectrum = (std::uint64_t{1} << 32) - 7;
  static constexpr std::uint64_t seed = 0x0123456789abcdef;

  quantise_key key_;
  quantise_shape shape_;
  workload work_;
  std::shared_ptr<const quantise_output> expected_;
  answer answer_;
};

}  // namespace

quantise::quantise(const command_queue& queue, const program& built, const quantise_tuning& tuning,
                   const quantise_key& key, const quantise_shape& shape)
    : operation(queue),
      kernel_(built.create_kernel("quantise")),
      tuning_(tuning),
      shape_(checked(key, shape)),
      spectra_(add_slot("spectra",
                        unpadded({2, shape_.spectra, key.unzip, channels_of_part(key, shape_)}),
                        dtype::complex64)),
      delay_(add_slot("delay", unpadded({shape_.spectra, 2}), dtype::float32)),
      phase_(add_slot("phase", unpadded({shape_.spectra, 2}), dtype::float32)),
      gains_(add_slot("gains", unpadded({output_channels(shape_), 2}), dtype::complex64)),
      out_(add_slot("out", unpadded(output_size(key, shape_)),
                    key.bits == 8 ? dtype::int8 : dtype::uint8)),
      saturated_(add_slot("saturated", unpadded({shape_.spectra / shape_.spectra_per_heap, 2}),
                          dtype::uint32)),
      progress_(queue.context(),
                {dtype::uint32,
                 {std::max<std::size_t>(shape_.spectra / shape_.spectra_per_heap, 1),
                  words_of_progress}}),
      key_(key) {
  command_queue zeroing = queue;
  progress_.zero(zeroing);
  tiles_ = static_cast<std::uint32_t>(tiles_of_spectrum(key, tuning, shape_));
  const std::size_t groups = tiles_ * (shape_.spectra / tuning.spectra);
  if (groups > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw argument_error(fmt::format(
        "{} spectra of {} channels make {} tiles, more than a launch can have work groups; "
        "quantise fewer spectra at a time",
        shape_.spectra, shape_.channels, groups));
  }
  part_ = static_cast<std::uint32_t>(channels_of_part(key, shape_));
  range_ = {{groups * tuning.width, tuning.height}, {tuning.width, tuning.height}};
}

void quantise::set_first_spectrum(std::uint64_t number) noexcept {
  if (number == first_spectrum_) return;
  first_spectrum_ = number;
  parameters_changed();
}

void quantise::set_seed(std::uint64_t seed) noexcept {
  if (seed == seed_) return;
  seed_ = seed;
  parameters_changed();
}

void quantise::do_run() {
  if (range_.global.x == 0) return;
  enqueue(kernel_, range_, spectra_, delay_, phase_, gains_, out_, saturated_, part_,
          static_cast<std::uint32_t>(shape_.first_channel),
          static_cast<std::uint32_t>(output_channels(shape_)),
          static_cast<std::uint32_t>(shape_.spectra),
          static_cast<std::uint32_t>(shape_.spectra_per_heap), first_spectrum_,
          philox_keys(seed_, false), philox_keys(seed_, true), tiles_, progress_.buffer());
}

std::vector<named_value> quantise::do_parameters() const {
  return parameter_list()
      .add("channels", shape_.channels)
      .add("first_channel", shape_.first_channel)
      .add("end_channel", shape_.end_channel)
      .add("spectra", shape_.spectra)
      .add("spectra_per_heap", shape_.spectra_per_heap)
      .add("type", out_->type())
      .add("first_spectrum", first_spectrum_)
      .add("seed", seed_)
      .add("key", key_)
      .add("tuning", tuning_);
}

quantise_template::quantise_template(const context& context, const quantise_key& key,
                                     const std::optional<quantise_tuning>& tuning)
    : key_(checked(key)),
      tuning_(tuning ? *tuning : autotune(context, key_)),
      program_(build(context, key_, tuning_)) {}

quantise quantise_template::instantiate(const command_queue& queue,
                                        const quantise_shape& shape) const {
  return {queue, program_, tuning_, key_, shape};
}

space<quantise_tuning> tuning_space(const quantise_key& key) {
  using t = quantise_tuning;
  space<t> space;
  space.add(&t::width, {16, 32});
  space.add(&t::height, {4, 8});
  space.add(&t::spectra, {16, 32});
  space.add(&t::together, {true, false});
  space.add(&t::ahead, {0, 2});
  space.add(&t::resident, {512, 640});
  space.needs([key](const t& c) {
    const std::size_t row_bytes = (c.spectra * key.bits / 8 + 1) * 4 + 16;
    const std::size_t factors = (c.width + 1) * 8;
    const std::size_t ahead = c.ahead * (c.together ? 2 : 1) * c.width * c.height * 8;
    return resources{
        .work_group = {c.width, c.height, 1},
        .local_memory_bytes = 2 * key.unzip * (c.width * row_bytes + factors + ahead) + 8};
  });
  return space;
}

const autotuner<quantise_key, quantise_tuning> quantise_template::autotune{
    {.name = "operations.quantise_template.autotune", .version = 2, .test = {}},
    [](tuning_session& session, const quantise_key& key) {
      const context& context = session.context();
      auto queue = context.create_tuning_command_queue();
      quantise_shape shape{.channels = key.channels != 0 ? key.channels : 8192,
                           .spectra_per_heap = 32};
      const std::size_t bytes =
          std::min<std::size_t>(computed_workload_bytes(session), std::size_t{256} << 20);
      shape.spectra = round_up(divide_up(bytes, shape.channels * 16), shape.spectra_per_heap);
      const device_array spectra(
          context, {dtype::complex64, {2, shape.spectra, key.unzip, shape.channels / key.unzip}});
      const device_array delay(context, {dtype::float32, {shape.spectra, 2}});
      const device_array phase(context, {dtype::float32, {shape.spectra, 2}});
      const device_array gains(context, {dtype::complex64, {shape.channels, 2}});
      for (const device_array& array : {spectra, delay, phase, gains}) set_numbers(queue, array);
      const workload work(queue);
      // Cases: fewer channels than a group has, a number that it does not divide, and whole tiles.
      std::vector<known_spectra> known;
      if (key.channels != 0) {
        known.emplace_back(queue, key, key.channels);
      } else {
        known.emplace_back(queue, key, 2 * key.unzip);
        known.emplace_back(queue, key, 2 * key.unzip * 37);
        known.emplace_back(queue, key, 2 * key.unzip * 64);
      }
      const std::vector<std::size_t> out = output_size(key, shape);
      const auto written = static_cast<double>(
          std::accumulate(out.begin(), out.end(), std::size_t{1}, std::multiplies<>()));
      const declared_work moved{.bytes = bytes_of(spectra, delay, phase, gains) + written};
      return session.tune(tuning_space(key), [&](const quantise_tuning& tuning) {
        const program built = build(context, key, tuning);
        quantise op(queue, built, tuning, key, shape);
        op.bind({{"spectra", spectra}, {"delay", delay}, {"phase", phase}, {"gains", gains}});
        return make_checked_measure(queue, std::move(op), work, built, tuning, known).work(moved);
      });
    }};

namespace {
const remaker<quantise> remake_quantise{
    [](const command_queue& queue, const remade_parameters& from) {
      const quantise_shape size{.channels = from.get<std::size_t>("channels"),
                                .first_channel = from.get<std::size_t>("first_channel"),
                                .end_channel = from.get<std::size_t>("end_channel"),
                                .spectra = from.get<std::size_t>("spectra"),
                                .spectra_per_heap = from.get<std::size_t>("spectra_per_heap")};
      quantise made = quantise_template(queue.context(), from.get<quantise_key>("key"),
                                        from.get<quantise_tuning>("tuning"))
                          .instantiate(queue, size);
      made.set_first_spectrum(from.get<std::uint64_t>("first_spectrum"));
      made.set_seed(from.get<std::uint64_t>("seed"));
      return made;
    }};

const tuned_by<quantise> quantise_is_tuned{
    quantise_template::autotune,
    [](const remade_parameters& from) { return from.get<quantise_key>("key"); },
    // Numbers between two steps may be rounded either way, which also decides what counts as
    // saturated. Two numbers in a byte cannot be compared by their distance.
    [](const remade_parameters& from) -> tuned_results {
      if (from.get<quantise_key>("key").bits != 8) return {};
      return {{"out", {.absolute = 1}}};
    }};
}  // namespace

}  // namespace tune::operations
