// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "libtune/array/host_array.hpp"
#include "operations/telescope/rfi/data_order.hpp"

namespace tune::operations::rfi {

/// Input flags, one for each channel, or one for each channel and baseline; null without flags. Any
/// value other than zero is a flag.
using flags_pointer = const host_array<std::uint8_t>*;

/// Estimates the smooth part of spectra and subtracts it, on arrays of the host. Thread-safe.
class background_host {
 public:
  virtual ~background_host() = default;

  /// The deviations of the amplitudes |vis| from the background.
  /// @param vis    channels x baselines
  /// @param flags  null, channels, or channels x baselines
  /// @throws argument_error if the shapes do not match; type_error for another type of samples, for
  ///         missing flags, or for flags that this does not use
  virtual host_array<float> operator()(const host_array<std::complex<float>>& vis,
                                       flags_pointer flags = nullptr) const = 0;
  /// The deviations of samples that are already amplitudes.
  virtual host_array<float> operator()(const host_array<float>& amplitudes,
                                       flags_pointer flags = nullptr) const = 0;
};

/// Estimates the noise of each baseline from deviations on the host. Thread-safe.
class noise_estimate_host {
 public:
  virtual ~noise_estimate_host() = default;

  /// The standard deviation of each baseline.
  /// @param deviations  channels x baselines
  /// @throws argument_error unless the array has rank 2
  virtual host_array<float> operator()(const host_array<float>& deviations) const = 0;
};

/// Flags deviations that are large relative to the noise, on the host. Thread-safe.
class threshold_host {
 public:
  virtual ~threshold_host() = default;

  /// The flags, in the shape of the deviations.
  /// @param deviations  channels x baselines
  /// @param noise       the standard deviation of each baseline
  /// @throws argument_error if the shapes do not match
  virtual host_array<std::uint8_t> operator()(const host_array<float>& deviations,
                                              const host_array<float>& noise) const = 0;
};

/// The amplitude of a visibility: the square root of re^2 + im^2 in floats, with the sum rounded
/// once. It is infinite above 1.8e19.
float amplitude_of(std::complex<float> vis) noexcept;

/// @throws argument_error unless the width is odd
void check_width(std::size_t width);

/// The deviation from the median of a window of channels around each. The reference of
/// background_median_filter, with the same bits.
///
/// The window is cut at the ends of the band. Samples that are flagged, NaN or negative are
/// missing: their deviation is 0, and the median ignores them. The median of an even number is the
/// mean of the middle two. An amplitude that equals the median deviates by 0, even if both are
/// infinite.
class background_median_filter_host final : public background_host {
 public:
  /// @param width  of the window, in channels
  /// @throws argument_error unless the width is odd
  explicit background_median_filter_host(std::size_t width);

  host_array<float> operator()(const host_array<std::complex<float>>& vis,
                               flags_pointer flags = nullptr) const override;
  host_array<float> operator()(const host_array<float>& amplitudes,
                               flags_pointer flags = nullptr) const override;

 private:
  std::size_t width_;
};

/// 1.4826 times the median of the nonzero absolute deviations, which estimates the standard
/// deviation of normal noise. NaN counts as zero; if all are zero the noise is NaN. The reference
/// of noise_estimate, with the same bits.
class noise_estimate_mad_host final : public noise_estimate_host {
 public:
  host_array<float> operator()(const host_array<float>& deviations) const override;
};

/// The parameters of a threshold.
struct threshold_options {
  double n_sigma = 11.0;        ///< the threshold, in standard deviations of the noise
  std::uint8_t flag_value = 1;  ///< the flag of a flagged sample; others get 0
};

/// The parameters of a sum threshold.
struct threshold_sum_options {
  double n_sigma = 11.0;      ///< the threshold of single samples, in standard deviations
  std::size_t n_windows = 4;  ///< the windows have 1, 2, 4, ... samples
  /// The divisor of the threshold of means from one window to the next.
  double threshold_falloff = 1.2;
  std::uint8_t flag_value = 1;  ///< the flag of a flagged sample; others get 0
};

/// The greatest number of windows of a sum threshold.
constexpr std::size_t max_windows = 8;

/// @throws argument_error unless n_sigma is positive and finite and the flag value is not 0
void check(const threshold_options& options);
/// @throws argument_error also unless the falloff is positive and finite and there are 1 to
///         max_windows windows
void check(const threshold_sum_options& options);

/// The threshold of the mean of each window, in standard deviations, rounded to float.
std::vector<float> window_thresholds(const threshold_sum_options& options);

/// Flags samples that exceed n_sigma times the noise. The reference of threshold_simple, with the
/// same bits.
class threshold_simple_host final : public threshold_host {
 public:
  /// @throws argument_error as check
  explicit threshold_simple_host(const threshold_options& options = {});

  host_array<std::uint8_t> operator()(const host_array<float>& deviations,
                                      const host_array<float>& noise) const override;

 private:
  threshold_options options_;
};

/// Flags runs of samples whose mean is large: Offringa's SumThreshold
/// (https://doi.org/10.1111/j.1365-2966.2010.16471.x). The reference of threshold_sum, with the
/// same bits.
///
/// For windows of w = 1, 2, 4, ... channels in turn, with the threshold T = noise * n_sigma /
/// threshold_falloff^log2(w): samples that are flagged already become T, and then all samples of
/// each window whose sum exceeds T * w are flagged. Windows that reach over an end of the band are
/// no windows. Sums are sums of floats, formed from the two halves of the window.
class threshold_sum_host final : public threshold_host {
 public:
  /// @throws argument_error as check
  explicit threshold_sum_host(const threshold_sum_options& options = {});

  host_array<std::uint8_t> operator()(const host_array<float>& deviations,
                                      const host_array<float>& noise) const override;

 private:
  threshold_sum_options options_;
};

/// Flags interference in spectra on the host: background, noise and threshold in turn; each may run
/// on a device (from_device.hpp). Input flags exclude samples from the estimates, and do not appear
/// in the result. Thread-safe if its parts are.
class flagger_host {
 public:
  /// @throws argument_error if a part is null
  flagger_host(std::shared_ptr<const background_host> background,
               std::shared_ptr<const noise_estimate_host> noise_estimate,
               std::shared_ptr<const threshold_host> threshold);

  /// The flags of visibilities, channels x baselines. @throws the errors of the parts
  host_array<std::uint8_t> operator()(const host_array<std::complex<float>>& vis,
                                      flags_pointer flags = nullptr) const;
  /// The flags of samples that are already amplitudes.
  host_array<std::uint8_t> operator()(const host_array<float>& amplitudes,
                                      flags_pointer flags = nullptr) const;

 private:
  template <class Sample>
  host_array<std::uint8_t> flag(const host_array<Sample>& samples, flags_pointer flags) const;

  std::shared_ptr<const background_host> background_;
  std::shared_ptr<const noise_estimate_host> noise_estimate_;
  std::shared_ptr<const threshold_host> threshold_;
};

}  // namespace tune::operations::rfi
