// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "libtune/array/device_array.hpp"
#include "libtune/array/host_array.hpp"
#include "libtune/device/command_queue.hpp"
#include "libtune/device/device.hpp"
#include "libtune/operation/dimension.hpp"
#include "libtune/tune/session.hpp"
#include "operations/telescope/rfi/data_order.hpp"

// What the operations of RFI flagging share: checks of sizes, and samples to be tuned and checked
// with.
namespace tune::operations::rfi {

/// The dimensions of a matrix in an order.
std::vector<dimension> dimensions_of(data_order order, std::size_t channels, std::size_t baselines);

/// @throws argument_error if a launch cannot have so many work groups
void check_groups(const char* what, std::size_t channels, std::size_t baselines,
                  std::size_t groups);

/// A matrix of channels x baselines, or its transpose, as the order says.
template <element T>
host_array<T> in_order(host_array<T> matrix, data_order order) {
  if (order == data_order::channel_major) return matrix;
  host_array<T> turned({matrix.size()[1], matrix.size()[0]});
  for (std::size_t r = 0; r < matrix.size()[0]; ++r) {
    for (std::size_t c = 0; c < matrix.size()[1]; ++c) turned(c, r) = matrix(r, c);
  }
  return turned;
}

/// Amplitudes of which a few are large, infinite, negative or NaN.
host_array<float> random_amplitudes(std::size_t channels, std::size_t baselines);
/// The same as real parts, and imaginary parts that are small.
host_array<std::complex<float>> random_visibilities(std::size_t channels, std::size_t baselines);
/// Deviations of both signs from 0, a part of them large, and a few NaN.
host_array<float> random_deviations(std::size_t channels, std::size_t baselines);
/// Noise from 0 on, for each baseline.
host_array<float> random_noise(std::size_t baselines);
/// Flags of which an eighth is not zero.
host_array<std::uint8_t> sparse_flags(const shape& size);

/// The channels of the spectra that operations are tuned on.
constexpr std::size_t tuning_channels = 4096;
/// The number of such spectra: those of workload_bytes on a GPU; fewer elsewhere, where the
/// arithmetic takes longer than the memory.
std::size_t tuning_baselines(const tuning_session& session, std::size_t sample_bytes);

/// Fills an array of floats or pairs of floats with numbers that are about normal, one in a
/// thousand of them 40 larger.
void fill_with_noise(command_queue& queue, const device_array& array);

/// Fills an array of floats with deviations of amplitudes, of which a hundredth are strong, from
/// the median of 13 channels. They are about as large as the noise of the real part; many are 0.
void fill_with_deviations(command_queue& queue, const device_array& array);

}  // namespace tune::operations::rfi
