// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "libtune/array/host_array.hpp"
#include "operations/telescope/unpack/packed_samples.hpp"

namespace tune::operations {

/// The first samples of each packed row, on the host. T is float or std::int16_t.
template <element T>
host_array<T> unpack_on_host(const host_array<std::uint8_t>& packed, std::size_t bits,
                             std::size_t samples) {
  host_array<T> out({packed.size()[0], samples});
  for (std::size_t row = 0; row < packed.size()[0]; ++row) {
    for (std::size_t i = 0; i < samples; ++i) {
      out(row, i) = static_cast<T>(packed_sample(&packed(row, 0), i, bits));
    }
  }
  return out;
}

}  // namespace tune::operations
