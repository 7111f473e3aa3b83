// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "libtune/libtune.hpp"

namespace tune::operations {

/// Tuning key: the beams of a pass and the use of dither.
struct beamform_key {
  std::size_t beams = 8;   ///< formed in one pass over the input: 1, 2, 4, 8 or 16
  bool has_dither = true;  ///< a random number is added before rounding, in beams with dither
};

/// The division of channels and spectra among work groups and work items.
struct beamform_tuning {
  bool tensor = false;        ///< uses the tensor units of an NVIDIA GPU, for 8 beams or more
  std::size_t wgs = 128;      ///< work items of a group, along the spectra of one channel
  std::size_t vector = 2;     ///< consecutive spectra that an item loads and stores at once: 1, 2
                              ///< or 4; 2 or 4 in tensor units
  std::size_t antennas = 32;  ///< the number whose coefficients are in local memory at a time
  std::size_t unroll = 4;     ///< antennas whose samples an item loads at once
  std::size_t parts = 1;  ///< in tensor units: parts of the time that a group processes one after
                          ///< the other, with the same coefficients
};

/// The arrays of a beamformer.
struct beamform_shape {
  std::size_t batches = 0;   ///< B
  std::size_t antennas = 0;  ///< A, from 1 to 32768
  std::size_t channels = 0;  ///< C
  std::size_t spectra = 0;   ///< H of a batch, a multiple of 4
  std::size_t beams = 0;     ///< beams, from 1 to 64
};

}  // namespace tune::operations

LIBTUNE_FIELDS(tune::operations::beamform_key, beams, has_dither)
LIBTUNE_FIELDS(tune::operations::beamform_tuning, tensor, wgs, vector, antennas, unroll, parts)
LIBTUNE_FIELDS(tune::operations::beamform_shape, batches, antennas, channels, spectra, beams)

namespace tune::operations {

/// Sums the antennas' channels, each rotated and weighted, to beams of one polarisation each, and
/// rounds them to 8 bits. Made by beamform_template.
///
/// | slot | type | shape |
/// | --- | --- | --- |
/// | in | int8 | batches x antennas x channels x spectra x 2 polarisations x 2 (real, imaginary) |
/// | weights | complex64 | antennas x beams: w |
/// | delays | float32 | antennas x beams: d |
/// | out | int8 | batches x beams x channels x spectra x 2 (real, imaginary) |
/// | saturated | uint32 | beams: values of which a part had to be clamped, dither included; added
/// to by each run |
///
/// No slot may be padded.
///
/// y[b][c][t] = sum over a of w[a][b] e^(j pi c d[a][b]) x[a][c][t][polarisation of b], with the
/// precision of float32. Its parts, plus dither, are clamped to +-127 and rounded to the nearest,
/// ties to even. By default beam b has polarisation b mod 2 and, if the key has dither, dither;
/// set_beam changes both.
///
/// The dither equals quantise's: a function of the seed, the number of the spectrum, the channel
/// and the beam.
///
/// The beams are formed in the least number of passes over the input. A pass has at most key.beams
/// beams: either all of one polarisation, or at most half with the first and half with the second.
class beamform final : public operation {
 public:
  /// For beamform_template, which compiled the program for this tuning and key.
  beamform(const command_queue& queue, const program& program, const beamform_tuning& tuning,
           const beamform_key& key, const beamform_shape& shape);

  /// Sets the polarisation and the dither of a beam. Allocates nothing.
  /// @param beam          its index
  /// @param polarisation  0 or 1
  /// @param has_dither    true to add dither, if the key has it
  /// @throws argument_error for an unknown beam or polarisation
  void set_beam(std::size_t beam, std::size_t polarisation, bool has_dither = true);
  /// Sets the absolute number of the first spectrum of the first batch in the next runs. The dither
  /// depends on it: each spectrum of a stream has its own. Starts as 0. Allocates nothing.
  void set_first_spectrum(std::uint64_t number) noexcept;
  /// Sets the seed of the dither. Each stream has its own. Starts as 0. Allocates nothing.
  void set_seed(std::uint64_t seed) noexcept;

  /// The number of passes over the input.
  std::size_t passes() const noexcept { return pass_count_; }

 private:
  // Beams that are formed together. A beam's place in a pass is the position of its byte.
  struct pass {
    std::uint64_t beams[2] = {};     // eight places each; 255: empty
    std::uint32_t dithered = 0;      // a bit for each place
    std::uint32_t polarisation = 0;  // of all places; 2: 0 for half of them, then 1
  };

  void plan();
  void do_run() override;
  std::vector<named_value> do_parameters() const override;

  kernel single_;                // all beams of a pass have one polarisation
  std::optional<kernel> mixed_;  // half of them have the first, half the second
  beamform_tuning tuning_;
  beamform_key key_;
  beamform_shape shape_;
  slot_ref<> in_;
  slot_ref<> weights_;
  slot_ref<> delays_;
  slot_ref<> out_;
  slot_ref<> saturated_;
  nd_range range_;
  std::uint64_t first_spectrum_ = 0;
  std::uint64_t seed_ = 0;
  std::uint64_t second_polarisation_ = 0;  // a bit for each beam
  std::uint64_t dithered_ = 0;             // a bit for each beam
  std::array<pass, 64> passes_{};
  std::size_t pass_count_ = 0;
};

/// The kernels of a beamformer, compiled and tuned for a context. Immutable, so thread-safe.
class beamform_template {
 public:
  /// Looks up the tuning in the database; without one it searches, and stores it.
  static const autotuner<beamform_key, beamform_tuning> autotune;

  /// Tunes on first use if no tuning is given.
  /// @param context  compiles the kernels, and tunes them
  /// @param key      the beams of a pass are rounded up to a power of two, to at most 16
  /// @param tuning   empty: autotune finds it
  /// @throws argument_error if the key has no beams; the errors of autotuner and compile
  explicit beamform_template(const context& context, const beamform_key& key = {},
                             const std::optional<beamform_tuning>& tuning = std::nullopt);

  /// The tuning that the program was compiled with.
  const beamform_tuning& tuning() const noexcept { return tuning_; }

  /// Makes an operation for one shape of arrays.
  /// @param queue  a queue of the template's context
  /// @param shape  of its arrays
  /// @throws argument_error if the shape breaks a rule of beamform_shape
  beamform instantiate(const command_queue& queue, const beamform_shape& shape) const;

 private:
  beamform_key key_;
  beamform_tuning tuning_;
  program program_;
};

/// True if a device has the tensor units that beamform_tuning::tensor uses: an NVIDIA GPU of
/// compute capability 8.0 or later.
bool has_beamform_tensor_units(const device& device);

/// The search space.
/// @param key               of the beamformer
/// @param has_tensor_units  see has_beamform_tensor_units; they are used for 8 beams or more
space<beamform_tuning> tuning_space(const beamform_key& key, bool has_tensor_units = false);

}  // namespace tune::operations
