// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "libtune/libtune.hpp"

namespace tune::operations {

/// The layout of packed samples: a row is a big-endian stream of two's-complement integers of 2 to
/// 16 bits each. Sample 0 has the highest bits of byte 0, and there are no gaps.
///
/// Returns the bytes of a row: the samples' bytes and at least 8 more, which kernels may read
/// without using them, rounded up to a multiple of 128.
/// @throws argument_error if bits is not 2 to 16
std::size_t packed_row_bytes(std::size_t samples, std::size_t bits);

/// Writes samples to the beginning of a row. Bits after the last sample stay unchanged.
/// @param samples  -2^(bits-1) to 2^(bits-1) - 1; of other numbers only the lowest bits are written
/// @param bits     of a sample, 2 to 16
/// @param row      at least (samples * bits + 7) / 8 bytes
/// @throws argument_error if bits is not 2 to 16, or the row is too short
void pack_samples(std::span<const std::int16_t> samples, std::size_t bits,
                  std::span<std::uint8_t> row);

/// Returns one sample of a row, without checks.
std::int16_t packed_sample(const std::uint8_t* row, std::size_t index, std::size_t bits) noexcept;

/// @throws argument_error that names the operation, if bits is not 2 to 16
void check_packed_bits(std::size_t bits, const char* operation);

}  // namespace tune::operations
