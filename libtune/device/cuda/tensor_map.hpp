// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "libtune/device/buffer.hpp"

namespace tune::cuda {

/// An array in device memory, and the boxes of it that a kernel copies to local memory. Axes are in
/// the order of shapes: the last one varies fastest in memory.
struct tensor_boxes {
  std::size_t element_bytes = 0;             ///< 1, 2, 4 or 8
  std::span<const std::size_t> size = {};    ///< elements along each of one to five axes
  std::span<const std::size_t> padded = {};  ///< the same with the gaps before the next row, slice,
                                             ///< and so on; of the first axis it does not matter
  std::span<const std::size_t> box = {};     ///< elements that a copy brings, 1 to 256 of each axis
  /// The rows of local memory whose words of 16 bytes change places, so that columns of them meet
  /// no memory bank twice: 32, 64 or 128 bytes, in which case rows of the box are no longer; 0:
  /// none
  std::size_t swizzle_bytes = 0;
};

/// The description of an array for the bulk tensor copy engine, of Hopper (compute capability 9.0)
/// and later: a kernel takes it by value, as a parameter of 128 bytes, aligned to as many, that is
/// __grid_constant__, and names it in cp.async.bulk.tensor. Set it by kernel::set_argument. It
/// holds the address of the buffer, which it does not keep.
struct alignas(128) tensor_map {
  std::array<std::uint64_t, 16> words{};  ///< CUtensorMap, whose contents are the driver's own
};

/// Describes the array that begins where a buffer does. What a box has beyond the array arrives as
/// zeros. Allocates nothing; calls the driver, which asks nothing of the device.
/// @throws no_device_error without the CUDA backend; argument_error if the buffer is not of CUDA or
///         ends before the array does, or the engine cannot copy such boxes: the address of the
///         buffer and all strides have to be multiples of 16 bytes, and so have the rows of a box
tensor_map make_tensor_map(const buffer& buffer, const tensor_boxes& boxes);

}  // namespace tune::cuda
