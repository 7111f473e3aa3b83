// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The signals of the example's antennas: a synthetic sky, digitised and packed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace receiver {

inline constexpr std::size_t polarisations = 2;

/// The sizes of the telescope and of a frame, the unit of processing.
struct settings {
  std::size_t antennas = 4;        ///< A, 2 or more
  std::size_t channels = 256;      ///< N, a power of two from 64 on
  std::size_t bits = 10;           ///< bits of a sample, 4 to 16
  std::size_t taps = 16;           ///< T of the filter bank
  std::size_t heaps = 2;           ///< B, batches of a frame
  std::size_t heap_spectra = 64;   ///< H, a multiple of 32; B * H is a power of two from 64 on
  std::size_t beams = 4;           ///< pairs of both polarisations: the first is steered
  std::size_t frames_of_dump = 8;  ///< over which visibilities are added
  double sample_rate = 1712e6;     ///< samples/s of a polarisation

  /// The samples of a row, from which a filter bank takes one for each tap.
  std::size_t step() const noexcept { return 2 * channels; }
  std::size_t spectra() const noexcept { return heaps * heap_spectra; }  ///< spectra of a frame
  std::size_t samples() const noexcept { return spectra() * step(); }    ///< samples of a frame
  /// A frame's samples, with additional samples for the filter's window and the whole-sample
  /// delays.
  std::size_t samples_with_margin() const noexcept {
    return samples() + (taps - 1) * step() + 2 * largest_delay;
  }
  /// The time in which a frame is digitised.
  double frame_seconds() const noexcept { return static_cast<double>(samples()) / sample_rate; }

  static constexpr std::size_t largest_delay = 64;  ///< in whole samples, of either sign
};

/// The contents of the samples, which a correct receiver must find.
struct sky {
  std::vector<double> delays;         ///< delays of the source at each antenna, in samples
  std::vector<double> model;          ///< the delays that the receiver must correct
  std::vector<std::size_t> carriers;  ///< channels of interference
  std::size_t pulse_period = 0;       ///< spectra of a pulse period; divides a frame's spectra
  std::size_t pulse_row = 0;          ///< the row of a period at which a pulse begins
  std::size_t pulse_rows = 0;         ///< rows of a pulse
  double noise_level = 0;             ///< the standard deviation of samples without carriers
  double source_power = 0;            ///< the mean square of the source in the samples
  double own_power = 0;               ///< the mean square of an antenna's own noise
  /// The sum of the squares of a frame's samples, of each antenna and polarisation.
  std::vector<std::array<std::uint64_t, polarisations>> squares;

  /// The remaining delay at an antenna after correction by the model.
  double residual(std::size_t antenna) const { return delays[antenna] - model[antenna]; }
};

/// Digitises a sky whose signals repeat with each frame, so that one frame of samples, played
/// repeatedly, is an endless stream: noise of each antenna, a pulsing source that all antennas see
/// at their own delays, and the carriers of a transmitter.
class digitiser {
 public:
  explicit digitiser(const settings& sizes);

  const sky& seen() const noexcept { return sky_; }

  /// Packs a frame of an antenna and its margins; the first sample is largest_delay before the
  /// frame.
  /// @param row  at least packed_row_bytes(samples_with_margin(), bits) bytes
  void pack(std::size_t antenna, std::size_t polarisation, std::span<std::uint8_t> row) const;

 private:
  std::vector<float> make_source(std::uint32_t seed) const;
  void digitise(std::size_t antenna, std::size_t polarisation, const std::vector<float>& source);

  settings sizes_;
  sky sky_;
  double carrier_amplitude_ = 0;
  std::vector<std::vector<std::int16_t>> streams_;  // one for each antenna and polarisation
};

}  // namespace receiver
