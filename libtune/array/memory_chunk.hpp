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

/// The free and the taken blocks of a piece of memory, as offsets and sizes in bytes; the memory
/// itself is not touched. Takes the best fit, and merges neighbouring free blocks. Not thread-safe.
class block_map {
 public:
  /// All of it is free, except a rest that is too short to be aligned.
  /// @param alignment  what the offset and the size of every block are a multiple of
  block_map(std::size_t bytes, std::size_t alignment);

  /// The offset of a block of that many bytes, at least one; nothing if no free block is as large.
  std::optional<std::size_t> take(std::size_t bytes);
  /// Gives back a block by its offset.
  void release(std::size_t offset) noexcept;

  /// Of the blocks that have been taken, rounded up to the alignment.
  std::size_t bytes_in_use() const noexcept { return bytes_in_use_; }
  /// The largest block that take would find.
  std::size_t largest_free_bytes() const noexcept;

 private:
  struct block {
    std::size_t bytes;
    bool is_free;
  };
  using blocks = std::map<std::size_t, block>;  // by offset; together they are everything

  void merge_with_next(blocks::iterator it) noexcept;

  std::size_t alignment_;
  std::size_t bytes_in_use_ = 0;
  blocks blocks_;
};

/// A buffer of which parts are lent out as buffers, each until its last handle goes. The parts keep
/// the chunk. Thread-safe.
class memory_chunk : public std::enable_shared_from_this<memory_chunk> {
 public:
  /// @param alignment  what the offset of each part is a multiple of; no less than the device asks
  ///                   of sub-buffers
  memory_chunk(buffer whole, std::size_t alignment);

  /// A part of that many bytes, at least one; nothing if there is no room. @throws device_error
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
