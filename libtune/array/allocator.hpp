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

/// Where the memory of arrays comes from. What it hands out may outlive it. Thread-safe.
class allocator {
 public:
  virtual ~allocator() = default;
  allocator(const allocator&) = delete;
  allocator& operator=(const allocator&) = delete;

  /// The context that every buffer of this allocator belongs to.
  const tune::context& context() const noexcept { return context_; }

  /// Uninitialised memory of at least that many bytes, which goes back with the last handle.
  /// @throws argument_error for no bytes, device_error (out_of_memory) if there is not enough
  buffer allocate(std::size_t bytes);

 protected:
  /// @param context  the owner of all buffers that do_allocate returns
  explicit allocator(tune::context context) noexcept : context_(std::move(context)) {}

  /// Returns the alignment of blocks where this one was asked for: no less than the device asks of
  /// sub-buffers. @throws argument_error unless it is a power of two
  std::size_t block_alignment(std::size_t asked_bytes) const;

 private:
  virtual buffer do_allocate(std::size_t bytes) = 0;

  tune::context context_;
};

/// Each buffer is one of the context's own.
class plain_allocator final : public allocator {
 public:
  /// Allocates from this context, and keeps a handle of it.
  explicit plain_allocator(tune::context context) noexcept : allocator(std::move(context)) {}

 private:
  buffer do_allocate(std::size_t bytes) override { return context().create_buffer(bytes); }
};

/// Each buffer is managed memory of the context, which the host can map: for operations whose slots
/// the host reads or writes without copies.
///   op.set_allocator(std::make_shared<tune::managed_allocator>(context));
///   op.ensure_all_bound();
///   tune::mapped_memory dest = queue.map(op.buffer("dest").buffer());
class managed_allocator final : public allocator {
 public:
  /// Allocates from this context, and keeps a handle of it. @throws device_error if its device has
  /// no managed memory (device_info::managed_memory)
  explicit managed_allocator(const tune::context& context);

 private:
  buffer do_allocate(std::size_t bytes) override { return context().create_managed_buffer(bytes); }
};

namespace detail {
class memory_chunk;
}

/// Hands out parts of one existing buffer, and never asks for more memory: for
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

/// Options of a pooled_allocator: how it divides the memory of its context.
struct pool_options {
  std::size_t chunk_bytes = std::size_t{64} << 20;  ///< what is asked of the context, at least
  std::size_t alignment_bytes = 256;  ///< of every block, or the device's own where that is more
};

/// The memory of a pool. Blocks count with what rounds them up to the alignment.
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
  ~pooled_allocator() override;

  /// The use of the pool now, and the most since it was made.
  pool_statistics statistics() const;

  /// Gives chunks that are not in use back to the context. The pool does so itself where there is
  /// not enough memory for another chunk.
  void release_unused();

 private:
  using chunk = std::shared_ptr<detail::memory_chunk>;
  struct mutex;  // <mutex> would cost all users of libtune.hpp a part of their compile time

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
