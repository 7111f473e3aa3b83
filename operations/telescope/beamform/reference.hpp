// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "libtune/array/host_array.hpp"
#include "operations/telescope/beamform/beamform.hpp"
#include "operations/telescope/quantise/dither.hpp"

namespace tune::operations {

/// The inputs of a beamformer on the host, in the shapes of the operation's slots, and the settings
/// of its beams.
struct beamform_input {
  host_array<std::int8_t> in;               ///< the slot
  host_array<std::complex<float>> weights;  ///< the slot
  host_array<float> delays;                 ///< the slot
  std::vector<std::size_t> polarisations;   ///< the polarisation of each beam
  std::vector<bool> dithered;               ///< true for each beam with dither
};

/// Uniformly distributed numbers, with beams that sometimes saturate. Polarisations alternate, and
/// every third beam has no dither.
inline beamform_input random_input(const beamform_shape& shape) {
  beamform_input made{
      host_array<std::int8_t>({shape.batches, shape.antennas, shape.channels, shape.spectra, 2, 2}),
      host_array<std::complex<float>>({shape.antennas, shape.beams}),
      host_array<float>({shape.antennas, shape.beams}),
      {},
      {}};
  std::uint32_t state = 7;
  const auto draw = [&] {  // from -1 to 1
    state = state * 1664525U + 1013904223U;
    return static_cast<float>(state >> 8) * 0x1p-23F - 1.0F;
  };
  for (std::size_t i = 0; i < made.in.padded_elements(); ++i) {
    made.in.data()[i] = static_cast<std::int8_t>(127.4F * draw());
  }
  const float scale = 1.3F / std::sqrt(static_cast<float>(shape.antennas));
  for (std::size_t i = 0; i < shape.antennas * shape.beams; ++i) {
    made.weights.data()[i] = scale * std::complex<float>(draw(), draw());
    made.delays.data()[i] = draw();
  }
  for (std::size_t b = 0; b < shape.beams; ++b) {
    made.polarisations.push_back(b % 2);
    made.dithered.push_back(b % 3 != 2);
  }
  return made;
}

/// The beams before clamping and rounding, with dither, in float64 except for the products of
/// channel and delay, which are computed in float32: batches x beams x channels x spectra.
inline host_array<std::complex<double>> beamform_on_host(const beamform_key& key,
                                                         const beamform_shape& shape,
                                                         const beamform_input& input,
                                                         std::uint64_t first_spectrum,
                                                         std::uint64_t seed) {
  using complex = std::complex<double>;
  host_array<complex> made({shape.batches, shape.beams, shape.channels, shape.spectra});
  for (std::size_t b = 0; b < shape.beams; ++b) {
    const std::size_t p = input.polarisations[b];
    for (std::size_t c = 0; c < shape.channels; ++c) {
      std::vector<complex> coefficients;
      for (std::size_t a = 0; a < shape.antennas; ++a) {
        const float half_turns = static_cast<float>(c) * input.delays(a, b);
        coefficients.push_back(
            complex(input.weights(a, b)) *
            std::polar(1.0, std::numbers::pi * std::remainder(static_cast<double>(half_turns), 2)));
      }
      for (std::size_t batch = 0; batch < shape.batches; ++batch) {
        for (std::size_t t = 0; t < shape.spectra; ++t) {
          complex sum = 0;
          for (std::size_t a = 0; a < shape.antennas; ++a) {
            sum += coefficients[a] * complex(static_cast<double>(input.in(batch, a, c, t, p, 0)),
                                             static_cast<double>(input.in(batch, a, c, t, p, 1)));
          }
          if (key.has_dither && input.dithered[b]) {
            const auto x = beamform_dither(seed, first_spectrum, batch * shape.spectra + t, c, b);
            sum += complex(static_cast<double>(x[0]), static_cast<double>(x[1]));
          }
          made(batch, b, c, t) = sum;
        }
      }
    }
  }
  return made;
}

/// Compares beams with the host's. Each part must be the rounding of a number within an error of
/// the host's. The counts of saturated values must match likewise, after subtraction of the counts
/// before the run. Returns empty if all is right, else a description of the fault.
inline std::optional<std::string> find_misformed(const host_array<std::complex<double>>& expected,
                                                 const std::int8_t* out,
                                                 const std::uint32_t* saturated,
                                                 std::uint32_t before = 0, double error = 2e-3) {
  constexpr double most = 127;
  const auto& size = expected.size();
  const std::size_t beam_values = size[2] * size[3];
  std::vector<std::uint32_t> least(size[1]), largest(size[1]);
  for (std::size_t i = 0; i < expected.padded_elements(); ++i) {
    const double parts[2] = {expected.data()[i].real(), expected.data()[i].imag()};
    for (std::size_t part = 0; part < 2; ++part) {
      const int got{out[2 * i + part]};
      if (std::abs(got - std::clamp(parts[part], -most, most)) <= 0.5 + error) continue;
      return "value " + std::to_string(i) + (part == 0 ? ", real part: " : ", imaginary part: ") +
             std::to_string(got) + " instead of " + std::to_string(parts[part]) + " rounded";
    }
    const double peak = std::max(std::abs(parts[0]), std::abs(parts[1]));
    const std::size_t beam = i / beam_values % size[1];
    least[beam] += peak > most + error;
    largest[beam] += peak > most - error;
  }
  for (std::size_t beam = 0; beam < size[1]; ++beam) {
    const std::uint32_t got = saturated[beam] - before;
    if (got >= least[beam] && got <= largest[beam]) continue;
    return "beam " + std::to_string(beam) + ": " + std::to_string(got) +
           " values are counted as saturated, not " + std::to_string(least[beam]) + " to " +
           std::to_string(largest[beam]);
  }
  return std::nullopt;
}

}  // namespace tune::operations
