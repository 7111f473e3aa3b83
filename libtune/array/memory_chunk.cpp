// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/array/memory_chunk.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "libtune/device/context.hpp"
#include "libtune/device/interface.hpp"

namespace tune::detail {

block_map::block_map(std::size_t bytes, std::size_t alignment) : alignment_(alignment) {
  const std::size_t usable = bytes / alignment * alignment;
  if (usable > 0) blocks_.emplace(0, block{usable, true});
}

std::optional<std::size_t> block_map::take(std::size_t bytes) {
  const std::size_t blocks_needed = (bytes - 1) / alignment_ + 1;
  if (blocks_needed > largest_free_bytes() / alignment_) return std::nullopt;
  const std::size_t wanted = blocks_needed * alignment_;
  auto best = blocks_.end();
  for (auto it = blocks_.begin(); it != blocks_.end(); ++it) {
    const bool fits = it->second.is_free && it->second.bytes >= wanted;
    if (fits && (best == blocks_.end() || it->second.bytes < best->second.bytes)) best = it;
  }
  auto& [offset, found] = *best;
  if (found.bytes > wanted) {
    blocks_.emplace_hint(std::next(best), offset + wanted, block{found.bytes - wanted, true});
  }
  found = {wanted, false};
  bytes_in_use_ += wanted;
  return offset;
}

// Changes blocks in place, so that it needs no memory and cannot fail.
void block_map::release(std::size_t offset) noexcept {
  const auto it = blocks_.find(offset);
  it->second.is_free = true;
  bytes_in_use_ -= it->second.bytes;
  merge_with_next(it);
  if (it != blocks_.begin()) merge_with_next(std::prev(it));
}

std::size_t block_map::largest_free_bytes() const noexcept {
  std::size_t largest = 0;
  for (const auto& [offset, each] : blocks_) {
    if (each.is_free) largest = std::max(largest, each.bytes);
  }
  return largest;
}

void block_map::merge_with_next(blocks::iterator it) noexcept {
  const auto next = std::next(it);
  if (next == blocks_.end() || !it->second.is_free || !next->second.is_free) return;
  it->second.bytes += next->second.bytes;
  blocks_.erase(next);
}

/// A lent part. Its buffer is released before its block is.
class memory_chunk::loan {
 public:
  explicit loan(std::shared_ptr<memory_chunk> chunk) noexcept : chunk_(std::move(chunk)) {}
  ~loan() {
    part_.reset();
    if (offset_) chunk_->release(*offset_);
  }
  loan(const loan&) = delete;
  loan& operator=(const loan&) = delete;

  bool take(std::size_t bytes) {
    {
      const std::lock_guard lock(chunk_->mutex_);
      offset_ = chunk_->blocks_.take(bytes);
    }
    if (!offset_) return false;
    const context owner(chunk_->whole_.impl()->context());
    part_ = owner.create_sub_buffer(chunk_->whole_, *offset_, bytes).impl();
    return true;
  }

  buffer_interface* part() const noexcept { return part_.get(); }

 private:
  std::shared_ptr<memory_chunk> chunk_;
  std::optional<std::size_t> offset_;
  std::shared_ptr<buffer_interface> part_;
};

memory_chunk::memory_chunk(buffer whole, std::size_t alignment)
    : whole_(std::move(whole)), blocks_(whole_.size_bytes(), alignment) {}

std::optional<buffer> memory_chunk::take(std::size_t bytes) {
  auto lent = std::make_shared<loan>(shared_from_this());
  if (!lent->take(bytes)) return std::nullopt;
  buffer_interface* const part = lent->part();
  return buffer(std::shared_ptr<buffer_interface>(std::move(lent), part));
}

std::size_t memory_chunk::bytes_in_use() const noexcept {
  const std::lock_guard lock(mutex_);
  return blocks_.bytes_in_use();
}

std::size_t memory_chunk::largest_free_bytes() const noexcept {
  const std::lock_guard lock(mutex_);
  return blocks_.largest_free_bytes();
}

void memory_chunk::release(std::size_t offset) noexcept {
  const std::lock_guard lock(mutex_);
  blocks_.release(offset);
}

}  // namespace tune::detail
