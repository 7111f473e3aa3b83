// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <utility>

#include "libtune/base/error.hpp"
#include "operations/telescope/by_name/makers/makers.hpp"
#include "operations/telescope/ddc/ddc.hpp"
#include "operations/telescope/pfb/pfb.hpp"
#include "operations/telescope/quantise/quantise.hpp"
#include "operations/telescope/unpack/unpack.hpp"

namespace tune::operations::makers {
namespace {

using stage = parameter_stage;

/// The range of a filter bank's runs, whose settings come one at a time.
class pfb_range {
 public:
  pfb_range(const pfb_key& key, const pfb_shape& shape) : key_(key), shape_(shape) {
    offsets_.resize(shape.polarisations);
  }

  void operator()(operations::pfb& of, std::string_view name, const value& v) {
    pfb_range changed = *this;
    changed.change(name, v);
    of.set_range(changed.offsets_, changed.first_, changed.count(of.step()));
    *this = std::move(changed);
  }

 private:
  void change(std::string_view name, const value& v) {
    if (name == "offsets") {
      offsets_ = naturals_of(name, v);
      if (offsets_.size() == 1) offsets_.resize(shape_.polarisations, offsets_.front());
    } else if (name == "first_spectrum") {
      first_ = natural_of(name, v);
    } else {
      all_ = real_of(name, v) == -1;
      if (!all_) spectra_ = natural_of(name, v);
    }
  }

  /// The spectra of a run: those that fit, unless their number was set.
  std::size_t count(std::size_t step) const {
    if (!all_) return spectra_;
    std::size_t least = shape_.spectra - std::min(first_, shape_.spectra);
    for (const std::uint64_t offset : offsets_) {
      const std::size_t rows = offset > shape_.samples ? 0 : (shape_.samples - offset) / step;
      least = std::min(least, rows < key_.taps ? 0 : rows - key_.taps + 1);
    }
    return least;
  }

  pfb_key key_;
  pfb_shape shape_;
  std::vector<std::uint64_t> offsets_;
  std::size_t first_ = 0;
  std::size_t spectra_ = 0;
  bool all_ = true;
};

/// A frequency of a text such as "-3/16" or a number, which is exact up to 2^-62 cycles.
mixer_frequency frequency_of(const value& v) {
  const auto* written = std::get_if<std::string>(&v);
  if (written == nullptr) {
    constexpr int bits = 62;
    const double cycles = std::remainder(real_of("frequency", v), 1.0);
    return {std::llround(std::ldexp(cycles, bits)), std::uint64_t{1} << bits};
  }
  mixer_frequency made;
  const char* const end = written->data() + written->size();
  const auto [slash, bad] = std::from_chars(written->data(), end, made.numerator);
  if (bad == std::errc{} && slash != end && *slash == '/') {
    const auto [stop, worse] = std::from_chars(slash + 1, end, made.denominator);
    if (worse == std::errc{} && stop == end && made.denominator != 0) return made;
  }
  throw type_error(
      fmt::format("'frequency' is '{}', neither a number nor a fraction such as '3/16'", *written));
}

/// The mixer of a down-converter.
class ddc_mixer {
 public:
  explicit ddc_mixer(std::size_t subsampling) : subsampling_(subsampling) {}

  void operator()(operations::ddc& of, std::string_view name, const value& v) {
    if (name == "frequency") {
      frequency_ = frequency_of(v);
    } else {
      first_sample_ = natural_of(name, v);
    }
    of.set_mixer(mixer_step(frequency_, subsampling_), mixer_phase(frequency_, first_sample_));
  }

 private:
  std::size_t subsampling_;
  mixer_frequency frequency_{};
  std::uint64_t first_sample_ = 0;
};

void set_quantise(operations::quantise& of, std::string_view name, const value& v) {
  if (name == "seed") {
    of.set_seed(natural_of(name, v));
  } else {
    of.set_first_spectrum(natural_of(name, v));
  }
}

}  // namespace

operation_maker unpack() {
  return operation_maker("unpack")
      .add_fields<unpack_key>(stage::key, {{"bits", "of a packed sample, 2 to 16"},
                                           {"type", "of an unpacked sample: float32 or int16"}})
      .add(stage::size, "rows", {}, "rows of samples")
      .add(stage::size, "samples", {}, "samples of a row")
      .made_by(
          [](const context& in, const given_parameters& key) {
            return unpack_template(in, key.all<unpack_key>());
          },
          [](const unpack_template& made, const command_queue& queue,
             const given_parameters& size) {
            return without_settings(
                made.instantiate(queue, size.count("rows"), size.count("samples")));
          });
}

operation_maker pfb() {
  return operation_maker("pfb")
      .add_fields<pfb_key>(stage::key,
                           {{"taps", "rows of samples in the sum of a spectrum"},
                            {"bits", "of a packed real sample, 2 to 16; 0: samples are complex64"},
                            {"unzip", "interleaved transforms of a spectrum: 1, 2 or 4"}})
      .add_fields<pfb_shape>(stage::size, {{"polarisations", "rows of samples"},
                                           {"channels", "complex numbers of a spectrum", true},
                                           {"samples", "of a polarisation", true},
                                           {"spectra", "of a polarisation", true},
                                           {"last_first", "computes the last spectra first"}})
      .add(stage::setting, "offsets", std::int64_t{0},
           "the first sample: a number, or one for each polarisation, such as '0,16'")
      .add(stage::setting, "first_spectrum", std::int64_t{0}, "where the first spectrum is written")
      .add(stage::setting, "spectra", std::int64_t{-1}, "of each polarisation; -1: as many as fit")
      .made_by(
          [](const context& in, const given_parameters& key) {
            return pfb_template(in, key.all<pfb_key>());
          },
          [](const pfb_template& made, const command_queue& queue, const given_parameters& size) {
            const auto shape = size.all<pfb_shape>();
            return with_settings(made.instantiate(queue, shape), pfb_range(made.key(), shape));
          });
}

operation_maker ddc() {
  return operation_maker("ddc")
      .add_fields<ddc_key>(stage::key, {{"taps", "of the filter"},
                                        {"subsampling", "samples for each output"},
                                        {"bits", "of a packed sample, 2 to 16"}})
      .add(stage::size, "polarisations", {}, "rows of samples")
      .add(stage::size, "samples", {}, "of a polarisation")
      .add(stage::setting, "frequency", std::int64_t{0},
           "of the mixer, in cycles per sample: a number, or a fraction such as '3/16'")
      .add(stage::setting, "first_sample", std::int64_t{0},
           "the number of the first sample, for the phase of the mixer")
      .made_by(
          [](const context& in, const given_parameters& key) {
            return ddc_template(in, key.all<ddc_key>());
          },
          [](const ddc_template& made, const command_queue& queue, const given_parameters& size) {
            return with_settings(
                made.instantiate(queue, size.count("polarisations"), size.count("samples")),
                ddc_mixer(made.key().subsampling));
          });
}

operation_maker quantise() {
  return operation_maker("quantise")
      .add_fields<quantise_key>(
          stage::key, {{"real", "the transformed samples are real; else complex"},
                       {"unzip", "interleaved transforms of a spectrum: 1, 2 or 4"},
                       {"bits", "of the real and of the imaginary part of an output: 8 or 4"},
                       {"has_dither", "a random number is added before rounding"},
                       {"channels", "the only number of channels; 0: any number"}})
      .add_fields<quantise_shape>(stage::size,
                                  {{"polarisations", "always 2"},
                                   {"channels", "of a spectrum, a multiple of 2 * unzip", true},
                                   {"first_channel", "the first output channel"},
                                   {"end_channel", "the output channel past the last; 0: all"},
                                   {"spectra", "a multiple of spectra_per_heap", true},
                                   {"spectra_per_heap", "a multiple of 32", true}})
      .add(stage::setting, "first_spectrum", std::int64_t{0},
           "the number of the first spectrum, for the dither")
      .add(stage::setting, "seed", std::int64_t{0}, "of the dither")
      .made_by(
          [](const context& in, const given_parameters& key) {
            return quantise_template(in, key.all<quantise_key>());
          },
          [](const quantise_template& made, const command_queue& queue,
             const given_parameters& size) {
            return with_settings(made.instantiate(queue, size.all<quantise_shape>()), set_quantise);
          });
}

}  // namespace tune::operations::makers
