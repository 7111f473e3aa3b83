// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/pipeline/recycled_memory.hpp"

#include <array>
#include <mutex>
#include <new>

#include "libtune/base/never_destroyed.hpp"

namespace tune::detail {
namespace {

constexpr std::size_t block_step = 64;
constexpr std::size_t block_sizes = 64;

struct free_block {
  free_block* next;
};

/// The free blocks of each multiple of block_step bytes.
struct free_blocks {
  std::mutex mutex;
  std::array<free_block*, block_sizes> first{};
};

free_blocks& all_free_blocks() {
  static never_destroyed<free_blocks> blocks;
  return *blocks;
}

std::size_t size_index(std::size_t bytes) noexcept { return (bytes + block_step - 1) / block_step; }

}  // namespace

void* take_recycled(std::size_t bytes) {
  const std::size_t index = size_index(bytes);
  if (index >= block_sizes) return ::operator new(bytes);
  free_blocks& blocks = all_free_blocks();
  {
    const std::lock_guard lock(blocks.mutex);
    if (free_block* block = blocks.first[index]; block != nullptr) {
      blocks.first[index] = block->next;
      return block;
    }
  }
  return ::operator new(index* block_step);
}

void give_back_recycled(void* memory, std::size_t bytes) noexcept {
  const std::size_t index = size_index(bytes);
  if (index >= block_sizes) return ::operator delete(memory);
  free_blocks& blocks = all_free_blocks();
  const std::lock_guard lock(blocks.mutex);
  blocks.first[index] = ::new (memory) free_block{blocks.first[index]};
}

}  // namespace tune::detail
