// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "examples/receiver/checks.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <fmt/format.h>
#include <numbers>

namespace receiver {
namespace {

using tune::operations::baseline_count;
using tune::operations::baseline_index;

constexpr double rounding_power = 1.0 / 3;  // of a complex value rounded with dither

/// The channels in the middle of the band without a carrier in or beside them.
std::vector<std::size_t> quiet_channels(const settings& sizes, const sky& injected) {
  std::vector<std::size_t> channels;
  const std::size_t edge = sizes.channels / 16;
  for (std::size_t c = edge; c < sizes.channels - edge; ++c) {
    const auto is_near = [c](std::size_t carrier) { return carrier + 2 >= c && c + 2 >= carrier; };
    if (std::ranges::none_of(injected.carriers, is_near)) channels.push_back(c);
  }
  return channels;
}

std::complex<double> visibility(const results& of, std::size_t channel, std::size_t product) {
  return {static_cast<double>(of.visibilities(channel, product, std::size_t{0})),
          static_cast<double>(of.visibilities(channel, product, std::size_t{1}))};
}

std::size_t product_of(std::size_t a1, std::size_t p1, std::size_t a2, std::size_t p2) {
  return 4 * baseline_index(a1, a2) + 2 * p2 + p1;
}

check check_power(const settings& sizes, const sky& injected, const results& found) {
  std::size_t wrong = 0;
  for (std::size_t a = 0; a < sizes.antennas; ++a) {
    for (std::size_t p = 0; p < polarisations; ++p) {
      wrong += found.power(a, p) == found.frames * injected.squares[a][p] ? 0U : 1U;
    }
  }
  return {"power of the samples", wrong == 0,
          fmt::format("{} of {} inputs differ", wrong, sizes.antennas * polarisations)};
}

check check_level(const settings& sizes, const sky& injected, const telescope& of) {
  const double gain = of.gain() * of.gain();
  const double expected = gain * (injected.source_power + injected.own_power) + rounding_power;
  const auto channels = quiet_channels(sizes, injected);
  double worst = 0;
  for (std::size_t a = 0; a < sizes.antennas; ++a) {
    for (std::size_t p = 0; p < polarisations; ++p) {
      double sum = 0;
      for (const std::size_t c : channels) {
        sum += visibility(of.received(), c, product_of(a, p, a, p)).real();
      }
      const double mean =
          sum / static_cast<double>(channels.size() * sizes.spectra() * sizes.frames_of_dump);
      worst = std::max(worst, std::abs(mean / expected - 1));
    }
  }
  return {"level of the channels", worst < 0.1,
          fmt::format("within {:.1f} % of {:.0f}", 100 * worst, expected)};
}

/// The part of a baseline's amplitudes that adds up after correction of a delay.
double coherence(const settings& sizes, const results& found,
                 const std::vector<std::size_t>& channels, std::size_t product, double delay) {
  std::complex<double> sum;
  double amplitudes = 0;
  for (const std::size_t c : channels) {
    const std::complex<double> v = visibility(found, c, product);
    sum += v * std::polar(1.0, std::numbers::pi * static_cast<double>(c) * delay /
                                   static_cast<double>(sizes.channels));
    amplitudes += std::abs(v);
  }
  return sum.real() / std::max(amplitudes, 1.0);
}

check check_fringes(const settings& sizes, const sky& injected, const results& found) {
  const auto channels = quiet_channels(sizes, injected);
  double least = 1;
  double farthest = 0;
  for (std::size_t a2 = 1; a2 < sizes.antennas; ++a2) {
    for (std::size_t a1 = 0; a1 < a2; ++a1) {
      const double delay = injected.residual(a1) - injected.residual(a2);
      for (std::size_t p = 0; p < polarisations; ++p) {
        const std::size_t product = product_of(a1, p, a2, p);
        const double right = coherence(sizes, found, channels, product, delay);
        least = std::min(least, right);
        double best = right;
        double off = 0;
        for (int step = -50; step <= 50; ++step) {
          const double by = 0.01 * step;
          const double other = coherence(sizes, found, channels, product, delay + by);
          if (other > best) {
            best = other;
            off = by;
          }
        }
        farthest = std::max(farthest, std::abs(off));
      }
    }
  }
  return {
      "fringes", least > 0.85 && farthest <= 0.08,
      fmt::format("the delays of {} baselines are right within {:.2f} samples, coherence {:.3f} "
                  "or more",
                  baseline_count(sizes.antennas) - sizes.antennas, farthest, least)};
}

/// The mean power of a beam's quiet channels in each spectrum of a frame.
std::vector<double> powers_of_beam(const settings& sizes, const results& found,
                                   const std::vector<std::size_t>& channels, std::size_t beam) {
  std::vector<double> powers(sizes.spectra());
  for (std::size_t s = 0; s < powers.size(); ++s) {
    const std::size_t heap = s / sizes.heap_spectra;
    const std::size_t time = s % sizes.heap_spectra;
    for (const std::size_t c : channels) {
      const double re = found.beams(heap, beam, c, time, std::size_t{0});
      const double im = found.beams(heap, beam, c, time, std::size_t{1});
      powers[s] += (re * re + im * im) / static_cast<double>(channels.size());
    }
  }
  return powers;
}

double mean_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

check check_beams(const settings& sizes, const sky& injected, const telescope& of) {
  const auto channels = quiet_channels(sizes, injected);
  const auto antennas = static_cast<double>(sizes.antennas);
  const double gain = of.gain() * of.gain();
  const double weight = of.beam_weight() * of.beam_weight();
  const double expected = weight * (antennas * antennas * gain * injected.source_power +
                                    antennas * (gain * injected.own_power + rounding_power)) +
                          rounding_power;
  double worst = 0;
  double elsewhere = 0;
  for (std::size_t b = 0; b < sizes.beams; ++b) {
    const double power = mean_of(powers_of_beam(sizes, of.received(), channels, b)) / expected;
    if (b < polarisations) {
      worst = std::max(worst, std::abs(power - 1));
    } else {
      elsewhere = std::max(elsewhere, power);
    }
  }
  return {"gain of the beams", worst < 0.1 && elsewhere < 0.8,
          fmt::format("on the source within {:.1f} %, elsewhere {:.0f} % of it", 100 * worst,
                      100 * elsewhere)};
}

check check_pulses(const settings& sizes, const sky& injected, const results& found) {
  const auto powers = powers_of_beam(sizes, found, quiet_channels(sizes, injected), 0);
  const std::size_t period = injected.pulse_period;
  std::vector<double> profile(period);
  for (std::size_t s = 0; s < powers.size(); ++s) profile[s % period] += powers[s];
  const auto peak = static_cast<std::size_t>(std::ranges::max_element(profile) - profile.begin());
  // The middle of a spectrum's window is half of the taps later.
  const std::size_t expected =
      (injected.pulse_row + injected.pulse_rows / 2 + period - sizes.taps / 2 % period) % period;
  const std::size_t apart = (peak + period - expected) % period;
  std::vector<double> sorted = profile;
  std::ranges::sort(sorted);
  const double contrast = profile[peak] / sorted[period / 2];
  return {"pulses", (apart <= 1 || apart == period - 1) && contrast > 1.3,
          fmt::format("at spectrum {} of {}, expected at {}, {:.2f} times the median", peak, period,
                      expected, contrast)};
}

check check_flags(const settings& sizes, const sky& injected, const results& found) {
  const std::size_t products = 4 * baseline_count(sizes.antennas);
  const auto count = [&](const std::vector<std::size_t>& channels) {
    std::size_t flagged = 0;
    for (const std::size_t c : channels) {
      for (std::size_t i = 0; i < products; ++i) flagged += found.flags(c, i) != 0 ? 1U : 0U;
    }
    return static_cast<double>(flagged) / static_cast<double>(products * channels.size());
  };
  const double hits = count(injected.carriers);
  const double false_ones = count(quiet_channels(sizes, injected));
  return {"flags", hits > 0.98 && false_ones < 0.01,
          fmt::format("{:.1f} % of what has interference, {:.2f} % of what has none", 100 * hits,
                      100 * false_ones)};
}

}  // namespace

std::vector<check> check_results(const settings& sizes, const sky& injected, const telescope& of) {
  const results& found = of.received();
  if (found.dumps == 0) return {{"visibilities", false, "no dump was made; ask for more frames"}};
  return {check_power(sizes, injected, found),   check_level(sizes, injected, of),
          check_fringes(sizes, injected, found), check_beams(sizes, injected, of),
          check_pulses(sizes, injected, found),  check_flags(sizes, injected, found)};
}

}  // namespace receiver
