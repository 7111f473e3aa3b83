// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "libtune/libtune.hpp"

namespace tune::operations {

/// A band of an equiripple filter, in cycles per sample.
struct filter_band {
  double from = 0;    ///< 0 to 1/2
  double to = 0;      ///< more than from, to 1/2
  double gain = 0;    ///< the wanted gain
  double weight = 1;  ///< the weight of a deviation from the gain, relative to other bands
};

/// Returns the symmetric real filter with the least largest weighted deviation from the bands, by
/// the exchange algorithm of Parks and McClellan (IEEE Transactions on Circuit Theory 19, 1972).
/// @param taps   the length, at least 3
/// @param bands  in ascending order, with gaps between them
/// @throws argument_error for fewer taps, no bands, bands that overlap or lie outside of 0 to 1/2,
///         numbers that are not finite, bands that together are too narrow for this many taps, or a
///         band in which a filter of an even length is 0
std::vector<double> equiripple_filter(std::size_t taps, std::span<const filter_band> bands);

/// The treatment of the band outside of the wanted part.
enum class ddc_mode : std::uint8_t {
  /// The subsampling is the decimation. The outer halves of the channels that a filter bank makes
  /// of the outputs are discarded: the inner half is free of aliases.
  discard,
  /// The subsampling is twice the decimation, and the filter passes a part of the band.
  keep,
};

/// Returns the low-pass filter of a down-converter, scaled by the root of the subsampling. Bands
/// are in units of the rate of the outputs. discard: passes [0, 1/4] with weight 0.005, stops [k +
/// 3/4, k + 5/4] for each k from 0 on. keep: passes [0, pass / 2], stops all from 1 - pass / 2 on.
/// @param taps         the length; 16 * subsampling is usual
/// @param subsampling  samples for each output, at least 2
/// @param mode         the treatment of the outer band
/// @param pass         keep only: the passed part of the band, more than 0, less than 1
/// @throws argument_error for an argument outside of these ranges
std::vector<double> ddc_filter(std::size_t taps, std::size_t subsampling,
                               ddc_mode mode = ddc_mode::discard, double pass = 0.8);

/// A frequency as a fraction, in cycles per sample, so that phases stay exact.
struct mixer_frequency {
  std::int64_t numerator = 0;     ///< any number; negative for negative frequencies
  std::uint64_t denominator = 1;  ///< not 0
};

/// Returns the taps of a ddc: filter[k] * exp(2 pi j f k), in double precision, then rounded.
/// @throws argument_error if the denominator is 0
std::vector<std::complex<float>> ddc_taps(std::span<const double> filter,
                                          const mixer_frequency& frequency);

/// Returns the cycles of the mixer between outputs, in units of 2^-64, modulo a cycle, rounded.
/// @throws argument_error if the denominator is 0
std::uint64_t mixer_step(const mixer_frequency& frequency, std::size_t subsampling);

/// Returns the cycles of the mixer at a sample, counted from sample 0, in units of 2^-64, modulo a
/// cycle, rounded once: it does not drift, even for large sample numbers.
/// @throws argument_error if the denominator is 0
std::uint64_t mixer_phase(const mixer_frequency& frequency, std::uint64_t sample);

}  // namespace tune::operations

LIBTUNE_ENUM(tune::operations::ddc_mode, discard, keep)
