// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "libtune/device/buffer.hpp"

namespace tune::cuda {

/// An array in device memory, and the boxes of it that a kernel copies to local memory. The axes
/// are in the order of shapes: the last one varies fastest in memory.
struct tensor_boxes {
  std::size_t element_bytes = 0;             ///< 1, 2, 4 or 8
  std::span<const std::size_t> size = {};    ///< elements along each of one to five axes
  std::span<const std::size_t> padded = {};  ///< the same with the gaps before the next row or
                                             ///< slice; the first extent is ignored
  std::span<const std::size_t> box = {};     ///< elements of one copy along each axis, 1 to 256
  /// The swizzle of rows in local memory: words of 16 bytes change places within this many bytes,
  /// so that columns avoid bank conflicts. 32, 64 or 128 bytes, and rows of the box are at most as
  /// long; 0: no swizzle
  std::size_t swizzle_bytes = 0;
};

/// The description of an array for the bulk tensor copy engine of compute capability 9.0 and later.
/// A kernel takes it by value, as a __grid_constant__ parameter of 128 bytes with an alignment of
/// 128, and names it in cp.async.bulk.tensor. Set it by kernel::set_argument. It holds the address
/// of the buffer, but does not keep the buffer alive.
struct alignas(128) tensor_map {
  std::array<std::uint64_t, 16> words{};  ///< a CUtensorMap, whose content is private to the driver
};

/// Describes the array at the start of a buffer. Elements of a box outside the array are copied as
/// zeros. Allocates nothing; calls the driver, which does not access the device.
/// @throws no_device_error without the CUDA backend; argument_error if the buffer is not a CUDA
///         buffer or is smaller than the array, or the engine cannot copy such boxes: the address
///         of the buffer, all strides and the rows of a box have to be multiples of 16 bytes
tensor_map make_tensor_map(const buffer& buffer, const tensor_boxes& boxes);

}  // namespace tune::cuda
