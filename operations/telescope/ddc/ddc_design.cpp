// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/telescope/ddc/ddc_design.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numbers>
#include <utility>

namespace tune::operations {
namespace {

constexpr double pi = std::numbers::pi;

/// A frequency of the grid on which a filter is designed. x is cos(2 pi f). The amplitude is a
/// polynomial in x, after division by cos(pi f) for filters of even length.
struct grid_point {
  double x = 0;
  double wanted = 0;  // divided by that factor
  double weight = 0;  // multiplied by that factor
  bool ends_band = false;
};

std::vector<grid_point> make_grid(std::size_t taps, std::span<const filter_band> bands) {
  const bool is_even = taps % 2 == 0;
  const std::size_t free_taps = taps / 2 + 1;
  const double spacing = 1.0 / (32.0 * static_cast<double>(free_taps));
  std::vector<grid_point> grid;
  for (const filter_band& band : bands) {
    const std::size_t before = grid.size();
    const auto steps = static_cast<std::size_t>(std::ceil((band.to - band.from) / spacing)) + 1;
    for (std::size_t i = 0; i <= steps; ++i) {
      const double f =
          band.from + (band.to - band.from) * static_cast<double>(i) / static_cast<double>(steps);
      const double factor = is_even ? std::cos(pi * f) : 1;
      if (factor < 1e-7) continue;  // a filter of even length is 0 at half the rate for any taps
      grid.push_back({.x = std::cos(2 * pi * f),
                      .wanted = band.gain / factor,
                      .weight = band.weight * factor,
                      .ends_band = i == 0});
    }
    if (grid.size() == before) {
      throw argument_error(fmt::format(
          "equiripple_filter cannot take the band {} to {}: a filter of {} taps is 0 there "
          "with any values; ask for an odd number of taps",
          band.from, band.to, taps));
    }
    grid.back().ends_band = true;
  }
  return grid;
}

/// The polynomial through given points, in the barycentric form of Lagrange.
class interpolation {
 public:
  explicit interpolation(std::vector<double> x) : x_(std::move(x)), weights_(x_.size()) {
    // Products of a thousand differences exceed the range of a double; their logarithms do not.
    std::vector<double> logarithms(x_.size());
    for (std::size_t k = 0; k < x_.size(); ++k) {
      double sign = 1;
      for (std::size_t j = 0; j < x_.size(); ++j) {
        if (j == k) continue;
        const double difference = x_[k] - x_[j];
        logarithms[k] -= std::log(std::abs(difference));
        if (difference < 0) sign = -sign;
      }
      weights_[k] = sign;
    }
    const double largest = *std::ranges::max_element(logarithms);
    for (std::size_t k = 0; k < x_.size(); ++k) weights_[k] *= std::exp(logarithms[k] - largest);
  }

  const std::vector<double>& weights() const { return weights_; }
  void set_values(std::vector<double> values) { values_ = std::move(values); }

  double operator()(double x) const {
    double above = 0;
    double below = 0;
    for (std::size_t k = 0; k < values_.size(); ++k) {
      const double difference = x - x_[k];
      if (difference == 0) return values_[k];
      above += weights_[k] / difference * values_[k];
      below += weights_[k] / difference;
    }
    return above / below;
  }

 private:
  std::vector<double> x_;
  std::vector<double> weights_;
  std::vector<double> values_;
};

/// The polynomial whose weighted errors at the chosen points alternate and are equal. The weights
/// of all points give that error; the weights of all points except the last give the polynomial.
interpolation level(const std::vector<grid_point>& grid, const std::vector<std::size_t>& chosen) {
  std::vector<double> x;
  for (const std::size_t point : chosen) x.push_back(grid[point].x);
  const interpolation all(x);
  double above = 0;
  double below = 0;
  for (std::size_t k = 0; k < chosen.size(); ++k) {
    const grid_point& point = grid[chosen[k]];
    above += all.weights()[k] * point.wanted;
    below += (k % 2 == 0 ? 1 : -1) * all.weights()[k] / point.weight;
  }
  const double error = above / below;
  std::vector<double> values;
  for (std::size_t k = 0; k + 1 < chosen.size(); ++k) {
    const grid_point& point = grid[chosen[k]];
    values.push_back(point.wanted - (k % 2 == 0 ? error : -error) / point.weight);
  }
  x.pop_back();
  interpolation through(std::move(x));
  through.set_values(std::move(values));
  return through;
}

/// The extremes of the error with alternating signs, the wanted number of them; else empty.
std::vector<std::size_t> alternating_extremes(const std::vector<grid_point>& grid,
                                              const std::vector<double>& errors,
                                              std::size_t wanted) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < grid.size(); ++i) {
    const bool begins = i == 0 || (grid[i].ends_band && grid[i - 1].ends_band);
    const bool ends = i + 1 == grid.size() || (grid[i].ends_band && grid[i + 1].ends_band);
    const double size = std::abs(errors[i]);
    const double sign = errors[i] < 0 ? -1 : 1;
    if ((!begins && sign * errors[i - 1] > size) || (!ends && sign * errors[i + 1] >= size))
      continue;
    // The larger one of neighbours with the same sign is kept.
    if (!found.empty() && (errors[found.back()] < 0) == (errors[i] < 0)) {
      if (size > std::abs(errors[found.back()])) found.back() = i;
    } else {
      found.push_back(i);
    }
  }
  // If there are too many, a pair of neighbours is removed, or the smaller one of the ends.
  while (found.size() > wanted) {
    if (found.size() == wanted + 1) {
      const bool first = std::abs(errors[found.front()]) < std::abs(errors[found.back()]);
      found.erase(first ? found.begin() : found.end() - 1);
      break;
    }
    std::size_t least = 0;
    const auto pair_size = [&](std::size_t k) {
      return std::max(std::abs(errors[found[k]]), std::abs(errors[found[k + 1]]));
    };
    for (std::size_t k = 1; k + 1 < found.size(); ++k) {
      if (pair_size(k) < pair_size(least)) least = k;
    }
    found.erase(found.begin() + static_cast<std::ptrdiff_t>(least),
                found.begin() + static_cast<std::ptrdiff_t>(least) + 2);
  }
  if (found.size() < wanted) found.clear();
  return found;
}

interpolation exchange(const std::vector<grid_point>& grid, std::size_t extremes) {
  std::vector<std::size_t> chosen(extremes);
  for (std::size_t k = 0; k < extremes; ++k) chosen[k] = k * (grid.size() - 1) / (extremes - 1);
  for (int round = 0;; ++round) {
    interpolation polynomial = level(grid, chosen);
    std::vector<double> errors;
    errors.reserve(grid.size());
    for (const grid_point& point : grid) {
      errors.push_back(point.weight * (point.wanted - polynomial(point.x)));
    }
    auto better = alternating_extremes(grid, errors, extremes);
    if (better.empty() || better == chosen || round == 60) return polynomial;
    chosen = std::move(better);
  }
}

/// The taps of a symmetric filter from its amplitude at the frequencies k / taps.
std::vector<double> taps_of(const interpolation& polynomial, std::size_t taps) {
  const auto n = static_cast<double>(taps);
  std::vector<double> amplitudes;
  for (std::size_t k = 0; k < (taps + 1) / 2; ++k) {
    const double f = static_cast<double>(k) / n;
    amplitudes.push_back(polynomial(std::cos(2 * pi * f)) * (taps % 2 == 0 ? std::cos(pi * f) : 1));
  }
  std::vector<double> filter(taps);
  for (std::size_t i = 0; i < taps; ++i) {
    const double place = static_cast<double>(i) - (n - 1) / 2;
    double sum = amplitudes[0];
    for (std::size_t k = 1; k < amplitudes.size(); ++k) {
      sum += 2 * amplitudes[k] * std::cos(2 * pi * static_cast<double>(k) * place / n);
    }
    filter[i] = sum / n;
  }
  return filter;
}

void check_bands(std::size_t taps, std::span<const filter_band> bands) {
  if (taps < 3 || bands.empty()) {
    throw argument_error(fmt::format(
        "equiripple_filter cannot design {} taps for {} bands; ask for 3 taps and a band at least",
        taps, bands.size()));
  }
  double before = -1;
  for (const filter_band& band : bands) {
    // NaN fails each of these conditions.
    const bool rises = band.from >= 0 && band.from > before && band.to > band.from;
    if (!rises || !(band.to <= 0.5) || !(band.weight > 0) || !std::isfinite(band.weight) ||
        !std::isfinite(band.gain)) {
      throw argument_error(fmt::format(
          "equiripple_filter cannot take the band {} to {} of gain {} and weight {}; bands rise "
          "from 0 to 0.5 without touching, and weights are more than 0 and finite, as gains are",
          band.from, band.to, band.gain, band.weight));
    }
    before = band.to;
  }
}

__extension__ using wide = unsigned __int128;

void check_frequency(const mixer_frequency& frequency) {
  if (frequency.denominator != 0) return;
  throw argument_error(fmt::format("the mixer cannot have the frequency {} / 0 cycles per sample",
                                   frequency.numerator));
}

}  // namespace

std::vector<double> equiripple_filter(std::size_t taps, std::span<const filter_band> bands) {
  check_bands(taps, bands);
  const std::vector<grid_point> grid = make_grid(taps, bands);
  const std::size_t extremes = (taps + 1) / 2 + 1;
  std::vector<double> filter;
  if (grid.size() >= extremes) filter = taps_of(exchange(grid, extremes), taps);
  if (filter.empty() ||
      !std::ranges::all_of(filter, [](double tap) { return std::isfinite(tap); })) {
    throw argument_error(fmt::format(
        "equiripple_filter cannot design {} taps for {} bands that are so narrow; ask for fewer "
        "taps, or wider bands",
        taps, bands.size()));
  }
  return filter;
}

std::vector<double> ddc_filter(std::size_t taps, std::size_t subsampling, ddc_mode mode,
                               double pass) {
  if (subsampling < 2 || (mode == ddc_mode::keep && !(pass > 0 && pass < 1))) {
    throw argument_error(
        fmt::format("ddc_filter cannot subsample by {} and pass {} of the band; it subsamples by 2 "
                    "at least, and "
                    "passes more than 0 and less than 1",
                    subsampling, pass));
  }
  const auto rate = static_cast<double>(subsampling);
  const double half = rate / 2;  // half the samples' rate, in units of the outputs' rate
  std::vector<filter_band> bands;
  if (mode == ddc_mode::keep) {
    bands = {{0, pass / 2 / rate, 1, 1}, {(1 - pass / 2) / rate, 0.5, 0, 1}};
  } else {
    bands.push_back({0, 0.25 / rate, 1, 0.005});
    for (double k = 0; k + 0.75 < half; ++k) {
      bands.push_back({(k + 0.75) / rate, std::min(k + 1.25, half) / rate, 0, 1});
    }
  }
  std::vector<double> filter = equiripple_filter(taps, bands);
  for (double& tap : filter) tap *= std::sqrt(rate);
  return filter;
}

std::uint64_t mixer_phase(const mixer_frequency& frequency, std::uint64_t sample) {
  check_frequency(frequency);
  const bool is_negative = frequency.numerator < 0;
  const auto numerator = static_cast<std::uint64_t>(frequency.numerator);
  const wide product = wide{is_negative ? 0 - numerator : numerator} * sample;
  // Part of a cycle, in units of 1 / denominator.
  const wide rest = product % frequency.denominator;
  const wide cycles = ((rest << 64) + frequency.denominator / 2) / frequency.denominator;
  const auto low = static_cast<std::uint64_t>(cycles);
  return is_negative ? 0 - low : low;
}

std::uint64_t mixer_step(const mixer_frequency& frequency, std::size_t subsampling) {
  return mixer_phase(frequency, subsampling);
}

std::vector<std::complex<float>> ddc_taps(std::span<const double> filter,
                                          const mixer_frequency& frequency) {
  std::vector<std::complex<float>> taps;
  taps.reserve(filter.size());
  for (std::size_t k = 0; k < filter.size(); ++k) {
    const double cycles = static_cast<double>(mixer_phase(frequency, k)) * 0x1p-64;
    const std::complex<double> tap = std::polar(1.0, 2 * pi * cycles) * filter[k];
    taps.emplace_back(static_cast<float>(tap.real()), static_cast<float>(tap.imag()));
  }
  return taps;
}

}  // namespace tune::operations
