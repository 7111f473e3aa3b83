// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "libtune/libtune.hpp"

namespace tune::operations {

/// Tuning key: all parameters of a quantisation that are compiled in.
struct quantise_key {
  bool real = true;        ///< the transformed samples are real; else complex
  std::size_t unzip = 4;   ///< interleaved transforms of a spectrum: 1, 2 or 4
  std::size_t bits = 8;    ///< bits of the real and of the imaginary part of an output: 8 or 4
  bool has_dither = true;  ///< a random number is added before rounding
  /// The only number of channels of the program, which makes it a little faster; 0: any number.
  std::size_t channels = 0;
};

/// The division of a spectrum among work groups and work items.
struct quantise_tuning {
  std::size_t width = 16;    ///< work items of a group along a spectrum
  std::size_t height = 8;    ///< work items of a group across the spectra
  std::size_t spectra = 16;  ///< spectra of a tile, which a group writes one after the other
  bool together = false;     ///< an item holds both polarisations in registers at once
  /// Spectra that are loaded to local memory while an item computes; 0: none.
  std::size_t ahead = 2;
  /// Work items of a compute unit for which the registers must suffice.
  std::size_t resident = 512;
};

/// The arrays of a quantisation.
struct quantise_shape {
  std::size_t polarisations = 2;     ///< must be 2: their values share a word of output
  std::size_t channels = 0;          ///< N of a spectrum, a multiple of 2 * unzip
  std::size_t first_channel = 0;     ///< the first output channel
  std::size_t end_channel = 0;       ///< the index after the last; 0 is `channels`
  std::size_t spectra = 0;           ///< a multiple of spectra_per_heap
  std::size_t spectra_per_heap = 0;  ///< H, a multiple of 32
};

}  // namespace tune::operations

LIBTUNE_FIELDS(tune::operations::quantise_key, real, unzip, bits, has_dither, channels)
LIBTUNE_FIELDS(tune::operations::quantise_tuning, width, height, spectra, together, ahead, resident)
LIBTUNE_FIELDS(tune::operations::quantise_shape, polarisations, channels, first_channel,
               end_channel, spectra, spectra_per_heap)

namespace tune::operations {

/// Completes a filter bank: the last step of the transform, delay, phase, gain, rounding to few
/// bits, and a corner turn, in one pass over the spectra. Made by quantise_template.
///
/// With n = unzip, N channels, m = N / n and p polarisations, all 2:
///
/// | slot | type | shape |
/// | --- | --- | --- |
/// | spectra | complex64 | p x spectra x n x m: the transforms Z^r[s] of the interleaved parts |
/// | delay | float32 | spectra x p: d, in samples; of complex samples 2 / subsampling of them |
/// | phase | float32 | spectra x p: phi, radians |
/// | gains | complex64 | output channels x p: g |
/// | out | int8 | heaps x output channels x H x p x 2: real and imaginary part |
/// | out, 4 bits | uint8 | heaps x output channels x H x p: real part in the high four bits |
/// | saturated | uint32 | heaps x p: values of which a part had to be clamped, dither included |
///
/// Each run overwrites the counts of saturated values. No slot may be padded.
///
/// Z[k = q m + s] = sum over r of e^(-2 pi j r q / n) e^(-2 pi j r s / N) Z^r[s]. For real samples
/// the channels are X[k] = U + e^(-pi j k / N) V with U = (Z[k] + conj Z[-k]) / 2 and V = (Z[k] -
/// conj Z[-k]) / 2j, that is the first N frequencies of a transform of 2 N real samples. For
/// complex samples they are the frequencies of Z, with frequency 0 in the middle: channel (k + N /
/// 2) mod N is Z[k]. Then Y[c] = X[c] g[c] e^(j theta), theta = -pi d (c - N / 2) / N + phi. Parts
/// of Y, plus dither, are clamped to +-127 (+-7 with 4 bits) and rounded to the nearest, ties to
/// even.
///
/// Dither is uniform and symmetric in (-1/2, 1/2), in steps of 2^-15, so that integers are
/// unchanged. It is a function of the seed, the number of the spectrum, the channel (counted before
/// the cut) and the polarisation (Philox4x32-7), so it is the same in every configuration and on
/// every device, and no state is kept between runs.
class quantise final : public operation {
 public:
  /// For quantise_template, which compiled the program for this tuning and key.
  quantise(const command_queue& queue, const program& program, const quantise_tuning& tuning,
           const quantise_key& key, const quantise_shape& shape);

  /// Sets the absolute number of the first spectrum of the next runs. The dither depends on it:
  /// each spectrum of a stream has its own. Starts as 0. Allocates nothing.
  void set_first_spectrum(std::uint64_t number) noexcept;
  /// Sets the seed of the dither. Each stream has its own. Starts as 0. Allocates nothing.
  void set_seed(std::uint64_t seed) noexcept;

 private:
  void do_run() override;
  std::vector<named_value> do_parameters() const override;

  kernel kernel_;
  quantise_tuning tuning_;
  quantise_shape shape_;
  slot_ref<> spectra_;
  slot_ref<> delay_;
  slot_ref<> phase_;
  slot_ref<> gains_;
  slot_ref<> out_;
  slot_ref<> saturated_;
  device_array progress_;  // counts of the groups of each heap, 0 between runs
  nd_range range_;
  std::uint32_t tiles_ = 0;  // tiles of a spectrum
  std::uint32_t part_ = 0;   // m
  std::uint64_t first_spectrum_ = 0;
  std::uint64_t seed_ = 0;
  quantise_key key_;
};

/// The kernel of a quantisation, compiled and tuned for a context. Immutable, so thread-safe.
class quantise_template {
 public:
  /// Looks up the tuning in the database; without one it searches, and stores it.
  static const autotuner<quantise_key, quantise_tuning> autotune;

  /// Tunes on first use if no tuning is given.
  /// @param context  compiles the kernel, and tunes it
  /// @param key      the kind of samples, spectra and output
  /// @param tuning   empty: autotune finds it
  /// @throws argument_error if the key has an unzip other than 1, 2 and 4, bits other than 8 and 4,
  ///         or an impossible number of channels; the errors of autotuner and compile
  explicit quantise_template(const context& context, const quantise_key& key = {},
                             const std::optional<quantise_tuning>& tuning = std::nullopt);

  /// The tuning that the program was compiled with.
  const quantise_tuning& tuning() const noexcept { return tuning_; }

  /// Makes an operation for one shape of arrays.
  /// @param queue  a queue of the template's context
  /// @param shape  of its arrays
  /// @throws argument_error if the shape breaks a rule of quantise_shape, the output channels are
  ///         empty or not within the channels, or the key has another number of channels
  quantise instantiate(const command_queue& queue, const quantise_shape& shape) const;

 private:
  quantise_key key_;
  quantise_tuning tuning_;
  program program_;
};

/// The search space.
space<quantise_tuning> tuning_space(const quantise_key& key);

}  // namespace tune::operations
