// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>

#include "libtune/array/allocator.hpp"

namespace tune {

namespace detail {
class memory_chunk;
}

/// Hands out parts of one buffer that somebody else made, and never asks for more memory: for
/// memory that was set aside, or is shared with another library. A part goes back when its last
/// handle goes, and may be handed out again at once: as for pooled_allocator, all that uses them
/// should be in one queue. The parts keep the buffer.
class buffer_allocator final : public allocator {
 public:
  /// @param whole  the memory to divide; the allocator and all parts keep it alive
  /// @param alignment_bytes  of every part, or the device's own where that is more
  /// @throws argument_error if the alignment is not a power of two
  explicit buffer_allocator(const buffer& whole, std::size_t alignment_bytes = 256);

  /// The size of the whole buffer, in bytes.
  std::size_t bytes() const noexcept;
  /// The bytes of all parts that are out, each rounded up to the alignment.
  std::size_t bytes_in_use() const noexcept;

 private:
  buffer do_allocate(std::size_t bytes) override;

  std::shared_ptr<detail::memory_chunk> chunk_;
};

}  // namespace tune
