// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "libtune/array/allocator.hpp"

namespace tune {

namespace detail {
class memory_chunk;
}

/// How a pool divides the memory of its context.
struct pool_options {
  std::size_t chunk_bytes = std::size_t{64} << 20;  ///< what is asked of the context, at least
  std::size_t alignment_bytes = 256;  ///< of every block, or the device's own where that is more
};

/// What a pool holds. Blocks count with what rounds them up to the alignment.
struct pool_statistics {
  std::size_t bytes_in_use = 0;       ///< of the buffers that are out
  std::size_t peak_bytes_in_use = 0;  ///< the most that there were
  std::size_t bytes_reserved = 0;     ///< of the chunks
  std::size_t chunks = 0;             ///< held from the context, in use or not
};

/// Takes memory from the context in large chunks and hands out parts of them, which is faster. What
/// does not fit in a chunk gets one to itself. A block goes back to the pool when the last handle
/// of its buffer goes; a chunk goes back to the context with release_unused, or once the pool and
/// all its buffers are gone.
///
/// A block may be handed out again at once, while commands that used it are still queued. That is
/// right where everything that uses a pool's buffers is in one queue, which keeps the order. So
/// have one pool for each queue, or wait for the other queues before handles go.
class pooled_allocator final : public allocator {
 public:
  /// Reserves nothing yet. @throws argument_error if the chunks have no bytes, or the alignment is
  /// not a power of two
  explicit pooled_allocator(const tune::context& context, const pool_options& options = {});

  /// The use of the pool now, and the most since it was made.
  pool_statistics statistics() const;

  /// Gives chunks that are not in use back to the context. The pool does so itself where there is
  /// not enough memory for another chunk.
  void release_unused();

 private:
  using chunk = std::shared_ptr<detail::memory_chunk>;

  buffer do_allocate(std::size_t bytes) override;
  buffer take(std::size_t bytes);
  chunk make_chunk(std::size_t bytes);
  void release_unused_locked();
  std::size_t bytes_in_use_locked() const;

  const std::size_t chunk_bytes_;
  const std::size_t alignment_;
  mutable std::mutex mutex_;
  std::vector<chunk> chunks_;
  std::size_t peak_bytes_in_use_ = 0;
};

}  // namespace tune
