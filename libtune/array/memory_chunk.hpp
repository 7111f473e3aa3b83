// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

#include "libtune/base/cxx20.hpp"
#include "libtune/device/buffer.hpp"

namespace tune::detail {

/// The free and allocated blocks of a piece of memory, as offsets and sizes in bytes; the memory
/// itself is not accessed. Allocates the best fit, and merges neighbouring free blocks. Not
/// thread-safe.
class block_map {
 public:
  /// All memory is free, except a rest that is too short for the alignment.
  /// @param alignment  the divisor of the offset and the size of every block
  block_map(std::size_t bytes, std::size_t alignment);

  /// Allocates a block of this many bytes, at least one, and returns its offset; empty if no free
  /// block is large enough.
  std::optional<std::size_t> take(std::size_t bytes);
  /// Releases a block by its offset.
  void release(std::size_t offset) noexcept;

  /// The bytes of the allocated blocks, rounded up to the alignment.
  std::size_t bytes_in_use() const noexcept { return bytes_in_use_; }
  /// The size of the largest free block.
  std::size_t largest_free_bytes() const noexcept;

 private:
  struct block {
    std::size_t bytes;
    bool is_free;
  };
  using blocks = std::map<std::size_t, block>;  // by offset; they cover the whole memory

  void merge_with_next(blocks::iterator it) noexcept;

  std::size_t alignment_;
  std::size_t bytes_in_use_ = 0;
  blocks blocks_;
};

/// A buffer whose parts are lent as buffers, each until its last handle is released. The parts keep
/// the chunk alive. Thread-safe.
class memory_chunk : public std::enable_shared_from_this<memory_chunk> {
 public:
  /// @param alignment  the divisor of the offset of each part; at least the device's alignment of
  ///                   sub-buffers
  memory_chunk(buffer whole, std::size_t alignment);

  /// Lends a part of this many bytes, at least one; empty if there is no room. @throws device_error
  std::optional<buffer> take(std::size_t bytes);

  std::size_t bytes() const noexcept { return whole_.size_bytes(); }
  std::size_t bytes_in_use() const noexcept;
  std::size_t largest_free_bytes() const noexcept;

 private:
  class loan;

  void release(std::size_t offset) noexcept;

  buffer whole_;
  mutable std::mutex mutex_;
  block_map blocks_;
};

}  // namespace tune::detail
