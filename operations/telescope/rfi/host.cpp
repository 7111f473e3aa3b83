// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/telescope/rfi/host.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <string>

#include "libtune/base/error.hpp"

namespace tune::operations::rfi {
namespace {

constexpr float missing = -1.0F;  // no amplitude is negative

/// The median of a non-empty list of numbers, which it reorders.
float median_of(std::vector<float>& numbers) {
  const auto half = static_cast<std::ptrdiff_t>(numbers.size() / 2);
  const auto middle = numbers.begin() + half;
  std::nth_element(numbers.begin(), middle, numbers.end());
  const float upper = *middle;
  if (numbers.size() % 2 == 1) return upper;
  const float lower = *std::max_element(numbers.begin(), middle);
  return std::fma(0.5F, lower, 0.5F * upper);
}

void check_matrix(const char* what, const shape& size) {
  if (size.rank() == 2) return;
  throw argument_error(fmt::format("{} have the shape {}; they have to be channels x baselines",
                                   what, to_string(size)));
}

void check_flags(const shape& size, std::size_t channels, std::size_t baselines) {
  if (size == shape{channels} || size == shape{channels, baselines}) return;
  throw argument_error(
      fmt::format("flags of shape {} do not fit samples of {} x {}; there has to "
                  "be one for each channel, or for each sample",
                  to_string(size), channels, baselines));
}

bool is_flagged(flags_pointer flags, std::size_t channel, std::size_t baseline) {
  if (flags == nullptr) return false;
  return flags->size().rank() == 1 ? (*flags)(channel) != 0 : (*flags)(channel, baseline) != 0;
}

void subtract_median(std::vector<float>& deviations, const std::vector<float>& amplitudes,
                     std::size_t width) {
  const std::size_t channels = amplitudes.size();
  std::vector<float> window;
  for (std::size_t c = 0; c < channels; ++c) {
    deviations[c] = 0.0F;
    if (amplitudes[c] == missing) continue;
    window.clear();
    const std::size_t begin = c < width / 2 ? 0 : c - width / 2;
    const std::size_t end = std::min(channels, c + width / 2 + 1);
    for (std::size_t i = begin; i < end; ++i) {
      if (amplitudes[i] != missing) window.push_back(amplitudes[i]);
    }
    const float median = median_of(window);
    if (amplitudes[c] != median) deviations[c] = amplitudes[c] - median;
  }
}

template <class Sample, class Amplitude>
host_array<float> filter(const host_array<Sample>& samples, flags_pointer flags, std::size_t width,
                         Amplitude&& amplitude) {
  check_matrix("the samples of a background", samples.size());
  const std::size_t channels = samples.size()[0];
  const std::size_t baselines = samples.size()[1];
  if (flags != nullptr) check_flags(flags->size(), channels, baselines);
  host_array<float> result({channels, baselines});
  std::vector<float> spectrum(channels);
  std::vector<float> deviations(channels);
  for (std::size_t b = 0; b < baselines; ++b) {
    for (std::size_t c = 0; c < channels; ++c) {
      const float a = amplitude(samples(c, b));
      spectrum[c] = a >= 0.0F && !is_flagged(flags, c, b) ? a : missing;
    }
    subtract_median(deviations, spectrum, width);
    for (std::size_t c = 0; c < channels; ++c) result(c, b) = deviations[c];
  }
  return result;
}

/// One spectrum during the passes of the windows.
class sum_threshold {
 public:
  explicit sum_threshold(std::size_t channels) : samples_(channels), flags_(channels) {}

  void start(std::size_t c, float sample) {
    samples_[c] = sample;
    flags_[c] = 0;
  }
  bool is_flagged(std::size_t c) const { return flags_[c] != 0; }

  void apply(std::size_t window, float threshold) {
    const std::size_t channels = samples_.size();
    if (window > channels) return;
    for (std::size_t c = 0; c < channels; ++c) {
      if (flags_[c] != 0) samples_[c] = threshold;
    }
    sums_ = samples_;
    for (std::size_t half = 1; half < window; half *= 2) {
      for (std::size_t c = 0; c + half < sums_.size(); ++c) sums_[c] += sums_[c + half];
    }
    const float limit = threshold * static_cast<float>(window);
    for (std::size_t c = 0; c + window <= channels; ++c) {
      if (!(sums_[c] > limit)) continue;
      for (std::size_t i = c; i < c + window; ++i) flags_[i] = 1;
    }
  }

 private:
  std::vector<float> samples_;
  std::vector<float> sums_;
  std::vector<std::uint8_t> flags_;
};

void check_noise(const host_array<float>& deviations, const host_array<float>& noise) {
  check_matrix("deviations", deviations.size());
  if (noise.size() == shape{deviations.size()[1]}) return;
  throw argument_error(fmt::format(
      "a threshold of deviations of shape {} has noise of shape {}; it needs a number for each "
      "baseline, {}",
      to_string(deviations.size()), to_string(noise.size()), deviations.size()[1]));
}

void check_threshold(double n_sigma, std::uint8_t flag_value) {
  if (!std::isfinite(n_sigma) || n_sigma <= 0) {
    throw argument_error(fmt::format(
        "a threshold cannot be {} times the noise; n_sigma has to be positive and finite",
        n_sigma));
  }
  if (flag_value == 0) {
    throw argument_error("a flag cannot have the value 0, which means 'no flag'");
  }
}

}  // namespace

float amplitude_of(std::complex<float> vis) noexcept {
  return std::sqrt(std::fma(vis.real(), vis.real(), vis.imag() * vis.imag()));
}

void check_width(std::size_t width) {
  if (width % 2 == 1) return;
  throw argument_error(
      fmt::format("a window of {} channels has no middle; its width has to be odd", width));
}

background_median_filter_host::background_median_filter_host(std::size_t width) : width_(width) {
  check_width(width);
}

host_array<float> background_median_filter_host::operator()(
    const host_array<std::complex<float>>& vis, flags_pointer flags) const {
  return filter(vis, flags, width_, amplitude_of);
}

host_array<float> background_median_filter_host::operator()(const host_array<float>& amplitudes,
                                                            flags_pointer flags) const {
  return filter(amplitudes, flags, width_, [](float a) { return a; });
}

host_array<float> noise_estimate_mad_host::operator()(const host_array<float>& deviations) const {
  check_matrix("deviations", deviations.size());
  host_array<float> noise({deviations.size()[1]});
  std::vector<float> numbers;
  for (std::size_t b = 0; b < deviations.size()[1]; ++b) {
    numbers.clear();
    for (std::size_t c = 0; c < deviations.size()[0]; ++c) {
      const float deviation = std::fabs(deviations(c, b));
      if (deviation > 0) numbers.push_back(deviation);
    }
    noise(b) =
        numbers.empty() ? std::numeric_limits<float>::quiet_NaN() : 1.4826F * median_of(numbers);
  }
  return noise;
}

void check(const threshold_options& options) {
  check_threshold(options.n_sigma, options.flag_value);
}

void check(const threshold_sum_options& options) {
  check_threshold(options.n_sigma, options.flag_value);
  if (!std::isfinite(options.threshold_falloff) || options.threshold_falloff <= 0) {
    throw argument_error(
        fmt::format("a threshold cannot fall by {} from window to window; threshold_falloff has "
                    "to be positive and finite",
                    options.threshold_falloff));
  }
  if (options.n_windows == 0 || options.n_windows > max_windows) {
    throw argument_error(
        fmt::format("a sum threshold cannot have {} windows; n_windows has to be "
                    "from 1 to {}",
                    options.n_windows, max_windows));
  }
}

std::vector<float> window_thresholds(const threshold_sum_options& options) {
  std::vector<float> thresholds;
  for (std::size_t i = 0; i < options.n_windows; ++i) {
    thresholds.push_back(static_cast<float>(
        options.n_sigma * std::pow(options.threshold_falloff, -static_cast<double>(i))));
  }
  return thresholds;
}

threshold_simple_host::threshold_simple_host(const threshold_options& options) : options_(options) {
  check(options);
}

host_array<std::uint8_t> threshold_simple_host::operator()(const host_array<float>& deviations,
                                                           const host_array<float>& noise) const {
  check_noise(deviations, noise);
  host_array<std::uint8_t> flags(deviations.size());
  const auto n_sigma = static_cast<float>(options_.n_sigma);
  for (std::size_t c = 0; c < deviations.size()[0]; ++c) {
    for (std::size_t b = 0; b < deviations.size()[1]; ++b) {
      if (deviations(c, b) > n_sigma * noise(b)) flags(c, b) = options_.flag_value;
    }
  }
  return flags;
}

threshold_sum_host::threshold_sum_host(const threshold_sum_options& options) : options_(options) {
  check(options);
}

host_array<std::uint8_t> threshold_sum_host::operator()(const host_array<float>& deviations,
                                                        const host_array<float>& noise) const {
  check_noise(deviations, noise);
  const std::size_t channels = deviations.size()[0];
  const std::vector<float> thresholds = window_thresholds(options_);
  host_array<std::uint8_t> flags(deviations.size());
  sum_threshold spectrum(channels);
  for (std::size_t b = 0; b < deviations.size()[1]; ++b) {
    for (std::size_t c = 0; c < channels; ++c) spectrum.start(c, deviations(c, b));
    for (std::size_t i = 0; i < thresholds.size(); ++i) {
      spectrum.apply(std::size_t{1} << i, thresholds[i] * noise(b));
    }
    for (std::size_t c = 0; c < channels; ++c) {
      if (spectrum.is_flagged(c)) flags(c, b) = options_.flag_value;
    }
  }
  return flags;
}

flagger_host::flagger_host(std::shared_ptr<const background_host> background,
                           std::shared_ptr<const noise_estimate_host> noise_estimate,
                           std::shared_ptr<const threshold_host> threshold)
    : background_(std::move(background)),
      noise_estimate_(std::move(noise_estimate)),
      threshold_(std::move(threshold)) {
  if (!background_ || !noise_estimate_ || !threshold_) {
    throw argument_error("a flagger needs a background, a noise estimate and a threshold");
  }
}

template <class Sample>
host_array<std::uint8_t> flagger_host::flag(const host_array<Sample>& samples,
                                            flags_pointer flags) const {
  const host_array<float> deviations = (*background_)(samples, flags);
  return (*threshold_)(deviations, (*noise_estimate_)(deviations));
}

host_array<std::uint8_t> flagger_host::operator()(const host_array<std::complex<float>>& vis,
                                                  flags_pointer flags) const {
  return flag(vis, flags);
}

host_array<std::uint8_t> flagger_host::operator()(const host_array<float>& amplitudes,
                                                  flags_pointer flags) const {
  return flag(amplitudes, flags);
}

}  // namespace tune::operations::rfi
