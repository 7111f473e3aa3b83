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

// Shared parts of the RFI flagging operations: checks of sizes, and samples for tuning and checks.
namespace tune::operations::rfi {

/// The dimensions of a matrix in an order.
std::vector<dimension> dimensions_of(data_order order, std::size_t channels, std::size_t baselines);

/// @throws argument_error for more work groups than a launch can have
void check_groups(const char* what, std::size_t channels, std::size_t baselines,
                  std::size_t groups);

/// A matrix of channels x baselines, or its transpose, by the order.
template <element T>
host_array<T> in_order(host_array<T> matrix, data_order order) {
  if (order == data_order::channel_major) return matrix;
  host_array<T> turned({matrix.size()[1], matrix.size()[0]});
  for (std::size_t r = 0; r < matrix.size()[0]; ++r) {
    for (std::size_t c = 0; c < matrix.size()[1]; ++c) turned(c, r) = matrix(r, c);
  }
  return turned;
}

/// Amplitudes, a few of them large, infinite, negative or NaN.
host_array<float> random_amplitudes(std::size_t channels, std::size_t baselines);
/// Random amplitudes as real parts, with small imaginary parts.
host_array<std::complex<float>> random_visibilities(std::size_t channels, std::size_t baselines);
/// Deviations of both signs from 0, some of them large, and a few NaN.
host_array<float> random_deviations(std::size_t channels, std::size_t baselines);
/// Noise of at least 0, for each baseline.
host_array<float> random_noise(std::size_t baselines);
/// Flags, an eighth of them not zero.
host_array<std::uint8_t> sparse_flags(const shape& size);

/// The number of channels of the spectra for tuning.
constexpr std::size_t tuning_channels = 4096;
/// The number of these spectra: workload_bytes of them on a GPU; fewer on other devices, where the
/// arithmetic takes longer than the memory.
std::size_t tuning_baselines(const tuning_session& session, std::size_t sample_bytes);

/// Fills an array of floats or pairs of floats with approximately normal numbers, one in a thousand
/// of them 40 larger.
void fill_with_noise(command_queue& queue, const device_array& array);

/// Fills an array of floats with deviations of amplitudes, a hundredth of them strong, from the
/// median of 13 channels. They are about as large as the noise of the real part; many are 0.
void fill_with_deviations(command_queue& queue, const device_array& array);

}  // namespace tune::operations::rfi
