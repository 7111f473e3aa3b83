// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/array/buffer_allocator.hpp"

#include <string>

#include "libtune/array/memory_chunk.hpp"
#include "libtune/base/error.hpp"
#include "libtune/device/device.hpp"
#include "libtune/device/interface.hpp"

namespace tune {

buffer_allocator::buffer_allocator(const buffer& whole, std::size_t alignment_bytes)
    : allocator(tune::context(whole.impl()->context())),
      chunk_(std::make_shared<detail::memory_chunk>(whole, block_alignment(alignment_bytes))) {}

std::size_t buffer_allocator::bytes() const noexcept { return chunk_->bytes(); }

std::size_t buffer_allocator::bytes_in_use() const noexcept { return chunk_->bytes_in_use(); }

buffer buffer_allocator::do_allocate(std::size_t bytes) {
  if (auto taken = chunk_->take(bytes)) return *taken;
  const device owner = context().device();
  throw device_error("allocating " + std::to_string(bytes) + " bytes in a buffer of " +
                         std::to_string(chunk_->bytes()),
                     owner.info().identity.name,
                     std::to_string(chunk_->bytes_in_use()) +
                         " bytes are in use, and the largest free part has " +
                         std::to_string(chunk_->largest_free_bytes()) +
                         "; let arrays go before, or set more memory aside",
                     device_failure::out_of_memory);
}

}  // namespace tune
