// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/telescope/beamform/beamform.hpp"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "libtune/operation/remaking.hpp"
#include "libtune/tune/tuned_by.hpp"
#include "libtune/verify/answer.hpp"
#include "operations/possible_tuning.hpp"
#include "operations/telescope/beamform/reference.hpp"
#include "operations/workload.hpp"

#include "beamform.kernel.hpp"
#include "dither.kernel.hpp"

namespace tune::operations {
namespace {

constexpr std::size_t most_beams = 64;  // their settings are the bits of a word
constexpr std::size_t most_beams_of_pass = 16;
constexpr std::uint64_t no_beam = 255;
// With more, 32-bit sums of a digit's products would overflow.
constexpr std::size_t most_antennas = 32768;

beamform_key checked_key(const beamform_key& key) {
  if (key.beams == 0) throw argument_error("beamform forms one beam at least in a pass, not 0");
  return {.beams = std::min(std::bit_ceil(key.beams), most_beams_of_pass),
          .has_dither = key.has_dither};
}

beamform_shape checked_shape(const beamform_shape& shape) {
  if (shape.beams == 0 || shape.beams > most_beams) {
    throw argument_error(
        fmt::format("beamform forms 1 to {} beams, not {}; make several operations for more",
                    most_beams, shape.beams));
  }
  if (shape.antennas == 0 || shape.antennas > most_antennas) {
    throw argument_error(fmt::format("beamform needs one antenna at least, and {} at most, not {}",
                                     most_antennas, shape.antennas));
  }
  if (shape.spectra % 4 != 0) {
    throw argument_error(
        fmt::format("beamform takes batches of a multiple of 4 spectra, not of {}", shape.spectra));
  }
  constexpr std::size_t most = std::numeric_limits<std::uint32_t>::max();
  if (std::max({shape.batches, shape.antennas, shape.channels, shape.spectra}) > most) {
    throw argument_error("beamform takes fewer than 2^32 batches, antennas, channels and spectra");
  }
  return shape;
}

/// The number of widths, of tuning.vector spectra each, in a group.
std::size_t widths_of_group(const beamform_tuning& tuning) noexcept {
  return tuning.tensor ? tuning.wgs / 4 * tuning.parts : tuning.wgs;
}

/// The antennas that an item, or four items in tensor units, load at once.
std::size_t antennas_at_once(const beamform_tuning& tuning) noexcept {
  return tuning.unroll * (tuning.tensor ? 4 : 1);
}

std::size_t local_memory_bytes(const beamform_key& key, const beamform_tuning& tuning) noexcept {
  const std::size_t coefficients = tuning.antennas * key.beams;
  return (tuning.tensor ? coefficients * 16 : divide_up(coefficients, 2) * 16) + key.beams * 8;
}

void check_tuning(const beamform_key& key, const beamform_tuning& t) {
  const bool is_possible =
      is_group(t.wgs) && t.unroll > 0 && t.antennas > 0 && t.antennas % antennas_at_once(t) == 0 &&
      (t.tensor ? key.beams >= 8 && t.wgs % 32 == 0 && t.unroll % 4 == 0 && t.parts > 0 &&
                      (t.vector == 2 || t.vector == 4)
                : t.parts == 1 && (t.vector == 1 || t.vector == 2 || t.vector == 4));
  if (is_possible) return;
  throw argument_error(fmt::format(
      "beamform cannot form {} beams of a pass with {}: items form 1, 2 or 4 spectra each, in one "
      "part; in tensor units 2 or 4, of 8 beams at least, in groups of a multiple of 32 items that "
      "load a multiple of 4 antennas at once; the antennas of a step are a multiple of the "
      "antennas that are loaded at once",
      key.beams, to_string(to_values(t))));
}

program build(const context& context, const beamform_key& key, const beamform_tuning& tuning) {
  defines macros;
  macros.add("beams", static_cast<int>(key.beams));
  macros.add("has_dither", key.has_dither ? 1 : 0);
  macros.add("most", 127);
  macros.add("tensor", tuning.tensor ? 1 : 0);
  macros.add("wgs", static_cast<int>(tuning.wgs));
  macros.add("vector", static_cast<int>(tuning.vector));
  macros.add("antennas_of_step", static_cast<int>(tuning.antennas));
  macros.add("unroll", static_cast<int>(tuning.unroll));
  macros.add("parts", static_cast<int>(tuning.parts));
  return compile(context,
                 {"beamform.kernel",
                  std::string(embedded::dither_kernel) + std::string(embedded::beamform_kernel)},
                 macros);
}

std::optional<kernel> mixed_kernel(const program& built, const beamform_key& key) {
  if (key.beams == 1) return std::nullopt;
  return built.create_kernel("beamform_mixed");
}

/// Returns a mask with the bits of all beams.
std::uint64_t all_beams(std::size_t beams) {
  return beams == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << beams) - 1;
}

/// Removes the given number of beams, the first ones, from a set, and returns them.
std::uint64_t take(std::uint64_t& from, std::size_t count) {
  std::uint64_t taken = 0;
  for (; count > 0 && from != 0; --count) {
    const std::uint64_t first = from & (~from + 1);
    taken |= first;
    from ^= first;
  }
  return taken;
}

/// A test case that the host computes as well: antennas that no step divides, spectra that no group
/// divides, and both polarisations.
class known_beams {
 public:
  known_beams(const command_queue& queue, const beamform_key& key)
      : key_(key),
        shape_{.batches = 3, .antennas = 149, .channels = 5, .spectra = 36, .beams = key.beams + 1},
        input_(random_input(shape_)),
        work_(queue) {
    auto expected = std::make_shared<const host_array<std::complex<double>>>(
        beamform_on_host(key, shape_, input_, first_spectrum, seed));
    host_array<std::uint32_t> saturated({shape_.beams});
    saturated.fill(counted_before);
    work_.set("in", input_.in).set("weights", input_.weights).set("delays", input_.delays);
    work_.set("saturated", std::move(saturated));
    expect_quantised(answer_, [expected](std::span<const std::uint8_t> out,
                                         std::span<const std::uint32_t> counts) {
      return find_misformed(*expected, reinterpret_cast<const std::int8_t*>(out.data()),
                            counts.data(), counted_before);
    });
  }

  std::optional<std::string> find_wrong(const program& built, const beamform_tuning& tuning) const {
    beamform op(work_.queue(), built, tuning, key_, shape_);
    for (std::size_t b = 0; b < shape_.beams; ++b) {
      op.set_beam(b, input_.polarisations[b], input_.dithered[b]);
    }
    op.set_first_spectrum(first_spectrum);
    op.set_seed(seed);
    return find_fault(op, work_, answer_);
  }

 private:
  static constexpr std::uint64_t first_spectrum = (std::uint64_t{1} << 32) - 8;
  static constexpr std::uint64_t seed = 0x0123456789abcdef;
  static constexpr std::uint32_t counted_before = 1000;

  beamform_key key_;
  beamform_shape shape_;
  beamform_input input_;
  workload work_;
  answer answer_;
};

}  // namespace

beamform::beamform(const command_queue& queue, const program& built, const beamform_tuning& tuning,
                   const beamform_key& key, const beamform_shape& shape)
    : operation(queue),
      single_(built.create_kernel("beamform_single")),
      mixed_(mixed_kernel(built, key)),
      tuning_(tuning),
      key_(key),
      shape_(checked_shape(shape)),
      in_(add_slot("in",
                   unpadded({shape.batches, shape.antennas, shape.channels, shape.spectra, 2, 2}),
                   dtype::int8)),
      weights_(add_slot("weights", unpadded({shape.antennas, shape.beams}), dtype::complex64)),
      delays_(add_slot("delays", unpadded({shape.antennas, shape.beams}), dtype::float32)),
      out_(add_slot("out", unpadded({shape.batches, shape.beams, shape.channels, shape.spectra, 2}),
                    dtype::int8)),
      saturated_(add_slot("saturated", unpadded({shape.beams}), dtype::uint32)),
      second_polarisation_(0xaaaaaaaaaaaaaaaa & all_beams(shape.beams)),
      dithered_(all_beams(shape.beams)) {
  const std::size_t groups =
      divide_up(shape.batches * (shape.spectra / tuning.vector), widths_of_group(tuning)) *
      shape.channels;
  if (groups > static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw argument_error(fmt::format(
        "{} batches of {} spectra of {} channels make {} work groups, more than a launch can have; "
        "form beams of fewer batches at a time",
        shape.batches, shape.spectra, shape.channels, groups));
  }
  range_ = {{groups * tuning.wgs}, {tuning.wgs}};
  plan();
}

void beamform::set_beam(std::size_t beam, std::size_t polarisation, bool has_dither) {
  if (beam >= shape_.beams) {
    throw argument_error(
        fmt::format("beamform has {} beams, and none with the index {}", shape_.beams, beam));
  }
  if (polarisation > 1) {
    throw argument_error(fmt::format("a beam has the polarisation 0 or 1, not {}", polarisation));
  }
  const std::uint64_t bit = std::uint64_t{1} << beam;
  second_polarisation_ =
      polarisation == 1 ? second_polarisation_ | bit : second_polarisation_ & ~bit;
  dithered_ = has_dither ? dithered_ | bit : dithered_ & ~bit;
  plan();
  parameters_changed();
}

void beamform::set_first_spectrum(std::uint64_t number) noexcept {
  if (number == first_spectrum_) return;
  first_spectrum_ = number;
  parameters_changed();
}

void beamform::set_seed(std::uint64_t seed) noexcept {
  if (seed == seed_) return;
  seed_ = seed;
  parameters_changed();
}

void beamform::plan() {
  std::uint64_t second = second_polarisation_;
  std::uint64_t first = all_beams(shape_.beams) & ~second;
  pass_count_ = 0;
  while (first != 0 || second != 0) {
    pass made;
    made.beams[0] = made.beams[1] = ~std::uint64_t{0};
    const auto place = [&](std::size_t at, std::uint64_t taken) {
      for (; taken != 0; taken &= taken - 1, ++at) {
        const auto beam = static_cast<std::uint64_t>(std::countr_zero(taken));
        made.beams[at / 8] ^= (no_beam ^ beam) << (at % 8 * 8);
        made.dithered |= static_cast<std::uint32_t>((dithered_ >> beam) & 1) << at;
      }
    };
    if (first != 0 && second != 0 && mixed_) {
      made.polarisation = 2;
      place(0, take(first, key_.beams / 2));
      place(key_.beams / 2, take(second, key_.beams / 2));
    } else {
      made.polarisation = first != 0 ? 0 : 1;
      place(0, take(first != 0 ? first : second, key_.beams));
    }
    passes_.at(pass_count_++) = made;
  }
}

void beamform::do_run() {
  if (range_.global.x == 0) return;
  for (std::size_t i = 0; i < pass_count_; ++i) {
    const pass& now = passes_.at(i);
    enqueue(now.polarisation == 2 ? *mixed_ : single_, range_, in_, weights_, delays_, out_,
            saturated_, static_cast<std::uint32_t>(shape_.batches),
            static_cast<std::uint32_t>(shape_.antennas),
            static_cast<std::uint32_t>(shape_.channels),
            static_cast<std::uint32_t>(shape_.spectra / tuning_.vector),
            static_cast<std::uint32_t>(shape_.beams), now.beams[0], now.beams[1], now.dithered,
            now.polarisation, first_spectrum_, philox_keys(seed_, false), philox_keys(seed_, true));
  }
}

std::vector<named_value> beamform::do_parameters() const {
  return parameter_list()
      .add("batches", shape_.batches)
      .add("antennas", shape_.antennas)
      .add("channels", shape_.channels)
      .add("spectra", shape_.spectra)
      .add("beams", shape_.beams)
      .add("passes", pass_count_)
      .add("first_spectrum", first_spectrum_)
      .add("seed", seed_)
      .add("key", key_)
      .add("second_polarisation", second_polarisation_)
      .add("dithered", dithered_)
      .add("tuning", tuning_);
}

beamform_template::beamform_template(const context& context, const beamform_key& key,
                                     const std::optional<beamform_tuning>& tuning)
    : key_(checked_key(key)),
      tuning_(tuning ? *tuning : autotune(context, key_)),
      program_((check_tuning(key_, tuning_), build(context, key_, tuning_))) {}

beamform beamform_template::instantiate(const command_queue& queue,
                                        const beamform_shape& shape) const {
  return {queue, program_, tuning_, key_, shape};
}

bool has_beamform_tensor_units(const device& device) { return cuda_generation(device) >= 80; }

space<beamform_tuning> tuning_space(const beamform_key& key, bool has_tensor_units) {
  using t = beamform_tuning;
  const bool has_tensor = has_tensor_units && key.beams >= 8;
  const bool has_many = key.beams == 16;
  space<t> space;
  space.add(&t::tensor, has_tensor ? std::vector<bool>{true, false} : std::vector<bool>{false});
  space.add(&t::wgs, {64, 128, 256});
  space.add(&t::vector, {1, 2, 4});
  space.add(&t::antennas, {16, 32, 64, 128});
  space.add(&t::unroll, {2, 4, 8});
  space.add(&t::parts,
            has_tensor ? std::vector<std::size_t>{1, 4, 16} : std::vector<std::size_t>{1});
  space.restrict(
      [has_many](const t& c) {
        if (c.tensor) return c.vector == 4 || (has_many && c.vector == 2);
        return c.vector == 2 || c.vector == (has_many ? 1 : 4);
      },
      "registers for the sums of an item's spectra", &t::tensor, &t::vector);
  // Groups of a single part were 1.3 times slower on an H200.
  space.restrict(
      [](const t& c) {
        return c.tensor ? c.wgs > 64 && c.antennas == 128 && c.unroll > 2 && c.parts > 1
                        : c.antennas != 64 && c.parts == 1;
      },
      "steps of 128 antennas and several parts in tensor units only", &t::tensor, &t::wgs,
      &t::antennas, &t::unroll, &t::parts);
  // Half as fast on an H200.
  space.restrict(
      [has_tensor](const t& c) {
        const t standard;
        return c.tensor || !has_tensor ||
               (c.wgs == standard.wgs && c.vector == standard.vector &&
                c.antennas == standard.antennas && c.unroll == standard.unroll);
      },
      "the test default only without tensor units, where there are any", &t::tensor, &t::wgs,
      &t::vector, &t::antennas, &t::unroll);
  space.needs([key](const t& c) {
    return resources{.work_group = {c.wgs, 1, 1}, .local_memory_bytes = local_memory_bytes(key, c)};
  });
  return space;
}

const autotuner<beamform_key, beamform_tuning> beamform_template::autotune{
    {.name = "operations.beamform_template.autotune", .version = 2, .test = {}},
    [](tuning_session& session, const beamform_key& key) {
      const context& context = session.context();
      auto queue = context.create_tuning_command_queue();
      beamform_shape shape{.antennas = 64, .channels = 128, .spectra = 256, .beams = key.beams};
      const std::size_t bytes =
          std::min<std::size_t>(computed_workload_bytes(session), std::size_t{256} << 20);
      shape.batches = divide_up(bytes, shape.antennas * shape.channels * shape.spectra * 4);
      const device_array in(
          context,
          {dtype::int8, {shape.batches, shape.antennas, shape.channels, shape.spectra, 2, 2}});
      const device_array weights(context, {dtype::complex64, {shape.antennas, shape.beams}});
      const device_array delays(context, {dtype::float32, {shape.antennas, shape.beams}});
      for (const device_array& array : {in, weights, delays}) set_numbers(queue, array);
      const workload work(queue);
      const known_beams known(queue, key);
      const auto beam_samples =
          static_cast<double>(shape.batches * shape.beams * shape.channels * shape.spectra * 2);
      const bool has_tensor_units = has_beamform_tensor_units(context.device());
      // A complex multiply-add for each antenna, and the two bytes of a result.
      const declared_work useful{
          .flops = 8 * beam_samples * static_cast<double>(shape.antennas),
          .bytes = bytes_of(in, weights, delays) + 2 * beam_samples,
          .arithmetic = has_tensor_units ? arithmetic::undeclared : arithmetic::float32};
      return session.tune(tuning_space(key, has_tensor_units), [&](const beamform_tuning& tuning) {
        const program built = build(context, key, tuning);
        beamform op(queue, built, tuning, key, shape);
        op.bind({{"in", in}, {"weights", weights}, {"delays", delays}});
        return make_checked_measure(queue, std::move(op), work, built, tuning, known).work(useful);
      });
    }};

namespace {
const remaker<beamform> remake_beamform{
    [](const command_queue& queue, const remade_parameters& from) {
      const beamform_shape size{.batches = from.get<std::size_t>("batches"),
                                .antennas = from.get<std::size_t>("antennas"),
                                .channels = from.get<std::size_t>("channels"),
                                .spectra = from.get<std::size_t>("spectra"),
                                .beams = from.get<std::size_t>("beams")};
      beamform made = beamform_template(queue.context(), from.get<beamform_key>("key"),
                                        from.get<beamform_tuning>("tuning"))
                          .instantiate(queue, size);
      const auto second = from.get<std::uint64_t>("second_polarisation");
      const auto dithered = from.get<std::uint64_t>("dithered");
      for (std::size_t beam = 0; beam < size.beams; ++beam) {
        made.set_beam(beam, second >> beam & 1, (dithered >> beam & 1) != 0);
      }
      made.set_first_spectrum(from.get<std::uint64_t>("first_spectrum"));
      made.set_seed(from.get<std::uint64_t>("seed"));
      return made;
    }};

const tuned_by<beamform> beamform_is_tuned{
    beamform_template::autotune,
    [](const remade_parameters& from) { return from.get<beamform_key>("key"); },
    // Numbers between two steps may be rounded either way, which also decides what counts as
    // saturated.
    [](const remade_parameters&) -> tuned_results {
      return {{"out", {.absolute = 1}}};
    }};
}  // namespace

}  // namespace tune::operations
