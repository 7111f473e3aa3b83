// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>

#include "libtune/array/block_map.hpp"
#include "libtune/device/buffer.hpp"

namespace tune::detail {

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
