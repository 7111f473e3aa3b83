// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "libtune/array/layout.hpp"
#include "libtune/base/value.hpp"

namespace tune::operations::rfi {

/// The order of the axes of a matrix of channels and baselines.
enum class data_order : std::uint8_t {
  channel_major,   ///< channels x baselines: baselines are contiguous
  baseline_major,  ///< baselines x channels: channels are contiguous
};

/// The shape of a matrix in an order.
inline shape shape_of(data_order order, std::size_t channels, std::size_t baselines) {
  if (order == data_order::channel_major) return {channels, baselines};
  return {baselines, channels};
}

}  // namespace tune::operations::rfi

LIBTUNE_ENUM(tune::operations::rfi::data_order, channel_major, baseline_major)
