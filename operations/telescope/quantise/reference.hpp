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
#include "operations/telescope/quantise/dither.hpp"
#include "operations/telescope/quantise/quantise.hpp"

namespace tune::operations {

/// The inputs of a quantisation on the host, in the shapes of the operation's slots.
struct quantise_input {
  host_array<std::complex<float>> spectra;  ///< the slot
  host_array<float> delay;                  ///< the slot
  host_array<float> phase;                  ///< the slot
  host_array<std::complex<float>> gains;    ///< the slot
};

/// The outputs of a quantisation on the host.
struct quantise_output {
  host_array<std::int8_t> values;       ///< heaps x output channels x H x 2 x 2, for any bits
  host_array<std::uint32_t> saturated;  ///< heaps x 2
  /// Before clamping and rounding, with dither; in the shape of values.
  host_array<std::complex<double>> exact;
};

/// Uniformly distributed numbers: values that fill the range and sometimes saturate, delays of
/// either sign up to a few samples, and phases of several turns.
inline quantise_input random_input(const quantise_key& key, const quantise_shape& shape) {
  const std::size_t end = shape.end_channel == 0 ? shape.channels : shape.end_channel;
  quantise_input made{
      host_array<std::complex<float>>({2, shape.spectra, key.unzip, shape.channels / key.unzip}),
      host_array<float>({shape.spectra, 2}), host_array<float>({shape.spectra, 2}),
      host_array<std::complex<float>>({end - shape.first_channel, 2})};
  std::uint32_t state = 7;
  const auto draw = [&] {  // from -1 to 1
    state = state * 1664525U + 1013904223U;
    return static_cast<float>(state >> 8) * 0x1p-23F - 1.0F;
  };
  const auto fill = [&](auto& array, auto&& make) {
    for (std::size_t i = 0; i < array.padded_elements(); ++i) array.data()[i] = make();
  };
  fill(made.spectra, [&] { return std::complex<float>(draw(), draw()); });
  fill(made.delay, [&] { return 3 * draw(); });
  fill(made.phase, [&] { return 20 * draw(); });
  const float scale = key.bits == 8 ? 60.0F : 4.0F;
  fill(made.gains, [&] { return scale * std::complex<float>(draw(), draw()); });
  return made;
}

/// The channels of spectra in float64, directly from their definition, before delay, phase and
/// gain.
class channels_on_host {
 public:
  /// Keeps a reference to the spectra.
  channels_on_host(const quantise_key& key, std::size_t channels,
                   const host_array<std::complex<float>>& spectra)
      : key_(key), channels_(channels), spectra_(&spectra) {
    for (std::size_t i = 0; i < 2 * channels; ++i) {
      const double part = static_cast<double>(i) / static_cast<double>(channels);
      turns_.push_back(std::polar(1.0, -std::numbers::pi * part));
    }
  }

  /// The channels of one spectrum and polarisation.
  std::vector<std::complex<double>> operator()(std::size_t polarisation,
                                               std::size_t spectrum) const {
    const std::size_t n = key_.unzip, m = channels_ / n;
    std::vector<std::complex<double>> z(channels_), x(channels_);
    for (std::size_t k = 0; k < channels_; ++k) {
      for (std::size_t r = 0; r < n; ++r) {
        z[k] += turns_[2 * (r * k % channels_)] *
                std::complex<double>((*spectra_)(polarisation, spectrum, r, k % m));
      }
    }
    for (std::size_t k = 0; k < channels_; ++k) {
      if (!key_.real) {
        x[(k + channels_ / 2) % channels_] = z[k];
        continue;
      }
      const std::complex<double> mirrored = std::conj(z[(channels_ - k) % channels_]);
      const std::complex<double> u = 0.5 * (z[k] + mirrored);
      const std::complex<double> v = std::complex<double>(0, -0.5) * (z[k] - mirrored);
      x[k] = u + turns_[k] * v;
    }
    return x;
  }

 private:
  quantise_key key_;
  std::size_t channels_;
  const host_array<std::complex<float>>* spectra_;
  std::vector<std::complex<double>> turns_;  // e^(-pi j i / N)
};

/// Quantises on the host, in float64 up to the rounding.
inline quantise_output quantise_on_host(const quantise_key& key, const quantise_shape& shape,
                                        const quantise_input& input, std::uint64_t first_spectrum,
                                        std::uint64_t seed) {
  const std::size_t end = shape.end_channel == 0 ? shape.channels : shape.end_channel;
  const std::size_t width = end - shape.first_channel, length = shape.spectra_per_heap;
  const std::size_t heaps = shape.spectra / length;
  const double most = key.bits == 8 ? 127 : 7;
  quantise_output made{host_array<std::int8_t>({heaps, width, length, 2, 2}),
                       host_array<std::uint32_t>({heaps, 2}),
                       host_array<std::complex<double>>({heaps, width, length, 2})};
  const auto size = static_cast<double>(shape.channels);
  const channels_on_host channels_of(key, shape.channels, input.spectra);
  for (std::size_t t = 0; t < shape.spectra; ++t) {
    for (std::size_t p = 0; p < 2; ++p) {
      const auto x = channels_of(p, t);
      for (std::size_t c = shape.first_channel; c < end; ++c) {
        const double angle = -std::numbers::pi * static_cast<double>(input.delay(t, p)) *
                                 (static_cast<double>(c) - size / 2) / size +
                             static_cast<double>(input.phase(t, p));
        const std::size_t place = c - shape.first_channel;
        std::complex<double> y =
            x[c] * std::polar(1.0, angle) * std::complex<double>(input.gains(place, p));
        if (key.has_dither) {
          const auto dither = quantise_dither(seed, first_spectrum + t, c, shape.channels, p);
          y += std::complex<double>(static_cast<double>(dither[0]), static_cast<double>(dither[1]));
        }
        made.exact(t / length, place, t % length, p) = y;
        made.saturated(t / length, p) += std::abs(y.real()) > most || std::abs(y.imag()) > most;
        const auto rounded = [&](double v) {
          return static_cast<std::int8_t>(std::nearbyint(std::clamp(v, -most, most)));
        };
        made.values(t / length, place, t % length, p, 0) = rounded(y.real());
        made.values(t / length, place, t % length, p, 1) = rounded(y.imag());
      }
    }
  }
  return made;
}

/// Compares quantised values with the host's. Each part must be the rounding of a number within an
/// error of the host's. The counts of saturated values must match likewise. Returns empty if all is
/// right, else a description of the fault.
/// @param key        the operation's key
/// @param expected   the outputs of the host
/// @param out        the operation's slot: int8, or uint8 with 4 bits
/// @param saturated  the operation's slot
/// @param error      the largest difference from the host's before rounding
inline std::optional<std::string> find_misquantised(const quantise_key& key,
                                                    const quantise_output& expected,
                                                    const std::uint8_t* out,
                                                    const std::uint32_t* saturated,
                                                    double error = 2e-3) {
  const auto part_at = [&](std::size_t value, std::size_t part) -> int {
    if (key.bits == 8) return static_cast<std::int8_t>(out[2 * value + part]);
    const int four = part == 0 ? out[value] >> 4 : out[value] & 15;
    return four >= 8 ? four - 16 : four;
  };
  const double most = key.bits == 8 ? 127 : 7;
  const auto& size = expected.exact.size();
  const std::size_t heaps = size[0], heap_values = size[1] * size[2] * size[3];
  for (std::size_t heap = 0; heap < heaps; ++heap) {
    std::uint32_t least[2] = {}, largest[2] = {};
    for (std::size_t i = heap * heap_values; i < (heap + 1) * heap_values; ++i) {
      const std::complex<double> exact = expected.exact.data()[i];
      const double parts[2] = {exact.real(), exact.imag()};
      for (std::size_t part = 0; part < 2; ++part) {
        const double wanted = std::clamp(parts[part], -most, most);
        const int got = part_at(i, part);
        if (std::abs(got - wanted) <= 0.5 + error) continue;
        return "value " + std::to_string(i) + (part == 0 ? ", real part: " : ", imaginary part: ") +
               std::to_string(got) + " instead of " + std::to_string(parts[part]) + " rounded";
      }
      const double peak = std::max(std::abs(parts[0]), std::abs(parts[1]));
      least[i % 2] += peak > most + error;
      largest[i % 2] += peak > most - error;
    }
    for (std::size_t p = 0; p < 2; ++p) {
      const std::uint32_t got = saturated[heap * 2 + p];
      if (got >= least[p] && got <= largest[p]) continue;
      return "heap " + std::to_string(heap) + ", polarisation " + std::to_string(p) + ": " +
             std::to_string(got) + " values are counted as saturated, not " +
             std::to_string(least[p]) + " to " + std::to_string(largest[p]);
    }
  }
  return std::nullopt;
}

}  // namespace tune::operations
