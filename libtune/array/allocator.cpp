// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/array/allocator.hpp"

#include <algorithm>
#include <bit>
#include <string>

#include "libtune/base/error.hpp"
#include "libtune/device/device.hpp"

namespace tune {

buffer allocator::allocate(std::size_t bytes) {
  if (bytes == 0) throw argument_error("an allocator was asked for a buffer of no bytes");
  return do_allocate(bytes);
}

std::size_t allocator::block_alignment(std::size_t asked_bytes) const {
  if (!std::has_single_bit(asked_bytes)) {
    throw argument_error("an allocator aligns to a power of two, not to " +
                         std::to_string(asked_bytes) + " bytes");
  }
  const device owner = context_.device();
  return std::max(asked_bytes, owner.info().limits.buffer_alignment_bytes);
}

}  // namespace tune
