// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The tables of a plan on the device.
#pragma once

#include <cstddef>
#include <vector>

#include "operations/telescope/rfi2d/gaussian_taps.hpp"
#include "operations/telescope/rfi2d/rfi2d.hpp"

namespace tune::operations {

/// Kernels count times, channels and samples of windows in 32 bits, and step past the last.
inline constexpr std::size_t longest_rfi2d_axis = (std::size_t{1} << 31) - 1;

/// The ends of the chunks of an axis.
device_array upload_ends(const command_queue& queue, const std::vector<std::size_t>& ends);
/// The taps of a Gaussian on both sides, between zeros.
device_array upload_taps(const command_queue& queue, const gaussian_taps& taps);
/// The chunk of each averaged channel.
device_array upload_chunks(const command_queue& queue, const rfi2d_plan& plan);
/// The windows along an axis.
rfi2d_windows upload_windows(const command_queue& queue,
                             const std::vector<rfi2d_plan::window>& windows);

/// The number of averaged channels of the widest chunk.
std::size_t widest_chunk(const rfi2d_plan& plan);

}  // namespace tune::operations
