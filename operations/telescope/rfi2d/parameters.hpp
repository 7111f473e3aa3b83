// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "libtune/base/cxx20.hpp"
#include "operations/telescope/rfi2d/gaussian_taps.hpp"

namespace tune::operations {

/// The parameters of the two-dimensional flagger, with the defaults of katsdpsigproc's
/// SumThresholdFlagger. Times, channels and widths are counted in samples.
struct rfi2d_parameters {
  /// SumThreshold's threshold for one sample, in standard deviations of the noise.
  double outlier_nsigma = 4.5;
  /// The lengths of the windows along time, in any order; windows longer than the axis are not
  /// used.
  std::vector<std::size_t> windows_time{1, 2, 4, 8};
  /// The lengths of the windows along frequency, in channels before averaging.
  std::vector<std::size_t> windows_freq{1, 2, 4, 8};
  /// A sample this many standard deviations from the background is excluded from the next one.
  double background_reject = 2.0;
  /// The number of rounds that reject these samples, before the final background: at most 1000.
  std::size_t background_iterations = 1;
  /// The standard deviation of the background's Gaussian along time; times background_iterations,
  /// at most 1e6.
  double spike_width_time = 12.5;
  /// The standard deviation along frequency, in channels before averaging.
  double spike_width_freq = 10.0;
  /// The number of times to which a flagged sample spreads, including itself.
  std::size_t time_extend = 3;
  /// The number of channels to which a flagged sample spreads, including itself.
  std::size_t freq_extend = 3;
  /// The number of parts of the band with a noise level of their own.
  std::size_t freq_chunks = 10;
  /// The number of channels that are averaged first; at most all.
  std::size_t average_freq = 1;
  /// A channel is flagged at all times if more than this part of its times is.
  double flag_all_time_frac = 0.6;
  /// A time is flagged in all channels if more than this part of its channels is.
  double flag_all_freq_frac = 0.8;
  /// The threshold of a window of w samples is the threshold of one sample divided by rho to the
  /// power log2(w).
  double rho = 1.3;
};

/// The parameters applied to a number of times and channels. The flaggers on the host and on the
/// device share these numbers, so both compute the same.
struct rfi2d_plan {
  /// Applies parameters to an observation.
  /// @throws argument_error that names the parameter out of its range
  rfi2d_plan(const rfi2d_parameters& parameters, std::size_t times, std::size_t channels);

  /// A window of SumThreshold.
  struct window {
    std::size_t length;  ///< samples
    float factor;        ///< a window is flagged if its sum is above factor x median |x|
    float clamp;         ///< samples flagged by shorter windows are clamped to clamp x median |x|
  };

  rfi2d_parameters parameters;          ///< as given
  std::size_t times;                    ///< times of an observation
  std::size_t channels;                 ///< channels before averaging
  std::size_t average;                  ///< averaged channels, at most all
  std::size_t averaged;                 ///< channels after averaging
  std::vector<window> time_windows;     ///< ascending
  std::vector<window> freq_windows;     ///< ascending, in channels after averaging
  std::vector<std::size_t> chunk_ends;  ///< chunks + 1 ends, from 0 to averaged
  /// Samples with |residual| > reject x median |residual| are rejected.
  float reject;
  /// The weights of a background.
  struct background {
    gaussian_taps time;  ///< taps along time
    gaussian_taps freq;  ///< taps along frequency
  };
  std::vector<background> backgrounds;  ///< backgrounds in order; the last is subtracted
  std::size_t time_extend;              ///< rfi2d_parameters::time_extend
  std::size_t freq_extend;              ///< rfi2d_parameters::freq_extend
  double most_flags_of_time;            ///< the part above which a time is flagged as a whole
  double most_flags_of_channel;         ///< the part above which a channel is flagged as a whole
};

}  // namespace tune::operations
