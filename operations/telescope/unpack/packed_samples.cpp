// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "operations/telescope/unpack/packed_samples.hpp"

#include <fmt/format.h>

namespace tune::operations {

void check_packed_bits(std::size_t bits, const char* operation) {
  if (bits >= 2 && bits <= 16) return;
  throw argument_error(
      fmt::format("{} cannot read samples of {} bits; they have 2 to 16", operation, bits));
}

std::size_t packed_row_bytes(std::size_t samples, std::size_t bits) {
  check_packed_bits(bits, "packed_row_bytes");
  return round_up(divide_up(samples * bits, 8) + 8, 128);
}

void pack_samples(std::span<const std::int16_t> samples, std::size_t bits,
                  std::span<std::uint8_t> row) {
  check_packed_bits(bits, "pack_samples");
  if (row.size() < divide_up(samples.size() * bits, 8)) {
    throw argument_error(fmt::format("pack_samples cannot write {} samples of {} bits to {} bytes",
                                     samples.size(), bits, row.size()));
  }
  std::size_t at = 0;
  for (const std::int16_t sample : samples) {
    for (std::size_t bit = bits; bit-- > 0; ++at) {
      const auto mask = static_cast<std::uint8_t>(0x80U >> (at % 8));
      const bool is_set = ((static_cast<std::uint16_t>(sample) >> bit) & 1U) != 0;
      std::uint8_t& byte = row[at / 8];
      byte = static_cast<std::uint8_t>(is_set ? byte | mask : byte & ~mask);
    }
  }
}

std::int16_t packed_sample(const std::uint8_t* row, std::size_t index, std::size_t bits) noexcept {
  const std::size_t at = index * bits;
  const std::size_t last = (at + bits - 1) / 8;
  std::uint32_t window = 0;
  for (std::size_t byte = at / 8; byte <= last; ++byte) window = window << 8 | row[byte];
  window >>= 7 - (at + bits - 1) % 8;
  const std::uint32_t sign = 1U << (bits - 1);
  const std::uint32_t value = window & (2 * sign - 1);
  return static_cast<std::int16_t>(static_cast<std::int32_t>(value ^ sign) -
                                   static_cast<std::int32_t>(sign));
}

}  // namespace tune::operations
