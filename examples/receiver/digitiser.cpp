// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "examples/receiver/digitiser.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>
#include <random>

#include "operations/telescope/pfb/pfb_weights.hpp"
#include "operations/telescope/unpack/packed_samples.hpp"

namespace receiver {
namespace {

constexpr double source_share = 0.5;    // a part of the power between pulses
constexpr double pulse_gain = 2;        // the factor of the source's amplitude in a pulse
constexpr double carrier_to_noise = 3;  // the ratio of amplitudes in a channel

double mean_square(const std::vector<float>& of) {
  const auto add = [](double sum, float x) { return sum + double{x} * x; };
  return std::accumulate(of.begin(), of.end(), 0.0, add) / static_cast<double>(of.size());
}

// Delays a signal that repeats by a fraction of a sample, and by whole ones.
std::vector<float> delayed(const std::vector<float>& signal, double delay) {
  constexpr int half = 16;
  const double whole = std::floor(delay);
  const double fraction = delay - whole;
  std::array<float, std::size_t{2} * half> taps{};
  for (int k = 0; k < 2 * half; ++k) {
    const double x = std::numbers::pi * (k - half + 1 - fraction);
    const double window = std::cos(x / (2 * half));
    taps[static_cast<std::size_t>(k)] =
        static_cast<float>((std::abs(x) < 1e-9 ? 1 : std::sin(x) / x) * window * window);
  }
  const auto n = static_cast<std::ptrdiff_t>(signal.size());
  std::vector<float> result(signal.size());
  for (std::ptrdiff_t t = 0; t < n; ++t) {
    float sum = 0;
    for (int k = 0; k < 2 * half; ++k) {
      std::ptrdiff_t at = t - static_cast<std::ptrdiff_t>(whole) - (k - half + 1);
      at = at < 0 ? at + n : at >= n ? at - n : at;
      sum += taps[static_cast<std::size_t>(k)] * signal[static_cast<std::size_t>(at)];
    }
    result[static_cast<std::size_t>(t)] = sum;
  }
  return result;
}

// Cheaper than std::normal_distribution: the sum of eight uniform bytes is close enough to normal.
class noise {
 public:
  explicit noise(std::uint32_t seed) : random_(seed) {}
  float operator()() {
    std::uint64_t bits = random_();
    int sum = 0;
    for (int i = 0; i < 8; ++i, bits >>= 8) sum += static_cast<int>(bits & 0xFF);
    return static_cast<float>((sum - 1020) / 209.0);
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace

digitiser::digitiser(const settings& sizes) : sizes_(sizes) {
  const std::size_t n = sizes.channels;
  const double full_scale = std::ldexp(1.0, static_cast<int>(sizes.bits) - 1);
  const double level = full_scale / (sizes.bits >= 8 ? 8 : 3);
  for (std::size_t a = 0; a < sizes.antennas; ++a) {
    const double whole = static_cast<double>((a * 37) % (2 * settings::largest_delay - 32)) - 48;
    sky_.model.push_back(whole + 0.37 * static_cast<double>(a % 7));
    sky_.delays.push_back(sky_.model.back() + 0.45 * static_cast<double>(a % 8) - 0.8);
  }
  sky_.carriers = {n / 5, n / 5 + 1, n / 2 + n / 16, n - n / 8};
  sky_.pulse_period = sizes.spectra() / 4;
  sky_.pulse_row = sky_.pulse_period / 4;
  sky_.pulse_rows = 2;
  // The weights of a carrier in the middle of a channel add linearly, those of noise by their
  // squares.
  const auto weights = tune::operations::pfb_weights(sizes.taps, sizes.step());
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  carrier_amplitude_ = 2 * carrier_to_noise * level / sum;

  streams_.resize(sizes.antennas * polarisations);
  sky_.squares.resize(sizes.antennas);
  for (std::size_t p = 0; p < polarisations; ++p) {
    auto source = make_source(static_cast<std::uint32_t>(1 + p));
    for (float& x : source) x *= static_cast<float>(level * std::sqrt(source_share));
    sky_.source_power = mean_square(source);
    sky_.own_power = level * level * (1 - source_share);
    for (std::size_t a = 0; a < sizes.antennas; ++a) digitise(a, p, source);
  }
  sky_.noise_level = std::sqrt(sky_.source_power + sky_.own_power);
}

std::vector<float> digitiser::make_source(std::uint32_t seed) const {
  noise random(seed);
  std::vector<float> source(sizes_.samples());
  for (std::size_t t = 0; t < source.size(); ++t) {
    const std::size_t row = t / sizes_.step() % sky_.pulse_period;
    const bool in_pulse = row >= sky_.pulse_row && row < sky_.pulse_row + sky_.pulse_rows;
    source[t] = random() * static_cast<float>(in_pulse ? pulse_gain : 1);
  }
  return source;
}

void digitiser::digitise(std::size_t antenna, std::size_t polarisation,
                         const std::vector<float>& source) {
  const std::vector<float> seen = delayed(source, sky_.delays[antenna]);
  noise random(static_cast<std::uint32_t>(100 + polarisations * antenna + polarisation));
  const auto own = static_cast<float>(std::sqrt(sky_.own_power));
  // The transmitter is no common source: its phase differs at each antenna.
  std::vector<std::complex<double>> phasors;
  std::vector<std::complex<double>> turns;
  for (std::size_t i = 0; i < sky_.carriers.size(); ++i) {
    const double start = 1.7 * static_cast<double>(antenna) + 0.9 * static_cast<double>(i * i);
    phasors.push_back(std::polar(carrier_amplitude_, start));
    turns.push_back(std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(sky_.carriers[i]) /
                                        static_cast<double>(sizes_.step())));
  }
  const int most = (1 << (sizes_.bits - 1)) - 1;
  auto& stream = streams_[antenna * polarisations + polarisation];
  stream.resize(source.size());
  std::uint64_t squares = 0;
  for (std::size_t t = 0; t < stream.size(); ++t) {
    double x = double{seen[t]} + own * random();
    for (std::size_t i = 0; i < phasors.size(); ++i) {
      x += phasors[i].real();
      phasors[i] *= turns[i];
    }
    const int rounded = std::clamp(static_cast<int>(std::lrint(x)), -most, most);
    stream[t] = static_cast<std::int16_t>(rounded);
    squares += static_cast<std::uint64_t>(rounded * rounded);
  }
  sky_.squares[antenna][polarisation] = squares;
}

void digitiser::pack(std::size_t antenna, std::size_t polarisation,
                     std::span<std::uint8_t> row) const {
  const auto& stream = streams_[antenna * polarisations + polarisation];
  std::vector<std::int16_t> samples(sizes_.samples_with_margin());
  for (std::size_t i = 0; i < samples.size(); ++i) {
    samples[i] = stream[(i + stream.size() - settings::largest_delay) % stream.size()];
  }
  tune::operations::pack_samples(samples, sizes_.bits, row);
}

}  // namespace receiver
