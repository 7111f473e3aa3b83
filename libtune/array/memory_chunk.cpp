// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/array/memory_chunk.hpp"

#include <utility>

#include "libtune/device/context.hpp"
#include "libtune/device/interface.hpp"

namespace tune::detail {

/// A part that is out. What is lent goes before it is given back.
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
