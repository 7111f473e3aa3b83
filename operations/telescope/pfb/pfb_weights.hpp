// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "libtune/libtune.hpp"

namespace tune::operations {

/// The window of a filter bank, a factor of its sinc.
enum class pfb_window : std::uint8_t {
  hann,         ///< sin^2(pi i / (n - 1)) for the i-th of n weights
  rectangular,  ///< 1
};

/// Returns the taps * step weights of a filter bank: window(i) * sinc(cutoff * ((i + 1/2) / step -
/// taps / 2)), sinc(x) being sin(pi x) / (pi x), scaled so that the sum of their squares is 1.
/// Computed in double precision, then rounded.
/// @param taps    rows of a spectrum, not 0
/// @param step    samples of a row, not 0: 2 N for N channels of real samples, N for complex ones
/// @param cutoff  the width of a channel's response, in channels
/// @param window  the factor of the sinc
/// @throws argument_error if taps or step is 0, or the only weight would be 0
std::vector<float> pfb_weights(std::size_t taps, std::size_t step, double cutoff = 1,
                               pfb_window window = pfb_window::hann);

}  // namespace tune::operations

LIBTUNE_ENUM(tune::operations::pfb_window, hann, rectangular)
