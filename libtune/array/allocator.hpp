// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "libtune/device/buffer.hpp"
#include "libtune/device/context.hpp"

namespace tune {

/// The source of memory for arrays. Its buffers may outlive it. Thread-safe.
class allocator {
 public:
  virtual ~allocator() = default;
  allocator(const allocator&) = delete;
  allocator& operator=(const allocator&) = delete;

  /// The context of every buffer of this allocator.
  const tune::context& context() const noexcept { return context_; }

  /// Allocates at least this many bytes, uninitialised; they are released with the last handle.
  /// @throws argument_error for no bytes, device_error (out_of_memory) if there is not enough
  buffer allocate(std::size_t bytes);

 protected:
  /// @param context  the owner of all buffers that do_allocate returns
  explicit allocator(tune::context context) noexcept : context_(std::move(context)) {}

  /// Returns the alignment of blocks for a requested alignment: at least the device's alignment of
  /// sub-buffers. @throws argument_error unless it is a power of two
  std::size_t block_alignment(std::size_t asked_bytes) const;

 private:
  virtual buffer do_allocate(std::size_t bytes) = 0;

  tune::context context_;
};

/// Allocates each buffer from the context.
class plain_allocator final : public allocator {
 public:
  /// Allocates from this context, and keeps a handle to it.
  explicit plain_allocator(tune::context context) noexcept : allocator(std::move(context)) {}

 private:
  buffer do_allocate(std::size_t bytes) override { return context().create_buffer(bytes); }
};

/// Allocates each buffer as managed memory of the context, which the host can map: for operations
/// whose slots the host reads or writes without copies.
///   op.set_allocator(std::make_shared<tune::managed_allocator>(context));
///   op.ensure_all_bound();
///   tune::mapped_memory dest = queue.map(op.buffer("dest").buffer());
class managed_allocator final : public allocator {
 public:
  /// Allocates from this context, and keeps a handle to it. @throws device_error if its device has
  /// no managed memory (device_info::managed_memory)
  explicit managed_allocator(const tune::context& context);

 private:
  buffer do_allocate(std::size_t bytes) override { return context().create_managed_buffer(bytes); }
};

namespace detail {
class memory_chunk;
}

/// Allocates parts of one existing buffer, and no further memory: for memory that was set aside, or
/// is shared with another library. A part is released with its last handle, and may be allocated
/// again at once: as for pooled_allocator, use all parts in one queue. The parts keep the buffer
/// alive.
class buffer_allocator final : public allocator {
 public:
  /// @param whole  the memory to divide; the allocator and all parts keep it alive
  /// @param alignment_bytes  of every part; the device's own alignment if that is larger
  /// @throws argument_error if the alignment is not a power of two
  explicit buffer_allocator(const buffer& whole, std::size_t alignment_bytes = 256);

  /// The size of the whole buffer, in bytes.
  std::size_t bytes() const noexcept;
  /// The bytes of all allocated parts, each rounded up to the alignment.
  std::size_t bytes_in_use() const noexcept;

 private:
  buffer do_allocate(std::size_t bytes) override;

  std::shared_ptr<detail::memory_chunk> chunk_;
};

/// Options of a pooled_allocator.
struct pool_options {
  std::size_t chunk_bytes = std::size_t{64} << 20;  ///< minimum size of a chunk from the context
  std::size_t alignment_bytes = 256;  ///< of every block; the device's own alignment if that is
                                      ///< larger
};

/// The memory of a pool. The size of a block includes rounding up to the alignment.
struct pool_statistics {
  std::size_t bytes_in_use = 0;       ///< in allocated buffers
  std::size_t peak_bytes_in_use = 0;  ///< the most so far
  std::size_t bytes_reserved = 0;     ///< in chunks
  std::size_t chunks = 0;             ///< held from the context, in use or not
};

/// Takes memory from the context in large chunks, and allocates parts of them, which is faster. A
/// buffer that exceeds the chunk size gets its own chunk. A block returns to the pool with the last
/// handle to its buffer; a chunk returns to the context by release_unused, or when the pool and all
/// its buffers are gone.
///
/// A block may be allocated again at once, while commands that used it are still queued. That is
/// safe if all buffers of a pool are used in one queue, which keeps the order. So have one pool for
/// each queue, or wait for the other queues before releasing handles.
class pooled_allocator final : public allocator {
 public:
  /// Allocates no memory yet. @throws argument_error if the chunk size is zero, or the alignment is
  /// not a power of two
  explicit pooled_allocator(const tune::context& context, const pool_options& options = {});
  ~pooled_allocator() override;

  /// The use of the pool now, and the most since it was made.
  pool_statistics statistics() const;

  /// Returns unused chunks to the context. The pool does so itself if there is not enough memory
  /// for another chunk.
  void release_unused();

 private:
  using chunk = std::shared_ptr<detail::memory_chunk>;
  struct mutex;  // <mutex> would add to the compile time of all users of libtune.hpp

  buffer do_allocate(std::size_t bytes) override;
  buffer take(std::size_t bytes);
  chunk make_chunk(std::size_t bytes);
  void release_unused_locked();
  std::size_t bytes_in_use_locked() const;

  const std::size_t chunk_bytes_;
  const std::size_t alignment_;
  std::unique_ptr<mutex> mutex_;
  std::vector<chunk> chunks_;
  std::size_t peak_bytes_in_use_ = 0;
};

}  // namespace tune
