// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/array/allocator.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <mutex>
#include <string>

#include "libtune/array/memory_chunk.hpp"
#include "libtune/base/error.hpp"
#include "libtune/device/device.hpp"
#include "libtune/device/interface.hpp"

namespace tune {

buffer allocator::allocate(std::size_t bytes) {
  if (bytes == 0) throw argument_error("an allocator was asked for a buffer of no bytes");
  return do_allocate(bytes);
}

std::size_t allocator::block_alignment(std::size_t asked_bytes) const {
  if (!std::has_single_bit(asked_bytes)) {
    throw argument_error("an allocator aligns to a power of two, not to " +
                         std::to_string(asked_bytes) + " bytes");
  }
  const device owner = context_.device();
  return std::max(asked_bytes, owner.info().limits.buffer_alignment_bytes);
}

managed_allocator::managed_allocator(const tune::context& context) : allocator(context) {
  const device owner = context.device();
  if (owner.info().managed_memory != managed_memory_kind::none) return;
  throw device_error("an allocator of managed memory", owner.name(),
                     "the device has no managed memory; use plain_allocator, and copy");
}

buffer_allocator::buffer_allocator(const buffer& whole, std::size_t alignment_bytes)
    : allocator(tune::context(whole.impl()->context())),
      chunk_(std::make_shared<detail::memory_chunk>(whole, block_alignment(alignment_bytes))) {}

std::size_t buffer_allocator::bytes() const noexcept { return chunk_->bytes(); }

std::size_t buffer_allocator::bytes_in_use() const noexcept { return chunk_->bytes_in_use(); }

buffer buffer_allocator::do_allocate(std::size_t bytes) {
  if (auto taken = chunk_->take(bytes)) return *taken;
  const device owner = context().device();
  throw device_error("allocating " + std::to_string(bytes) + " bytes in a buffer of " +
                         std::to_string(chunk_->bytes()),
                     owner.info().identity.name,
                     std::to_string(chunk_->bytes_in_use()) +
                         " bytes are in use, and the largest free part has " +
                         std::to_string(chunk_->largest_free_bytes()) +
                         "; let arrays go before, or set more memory aside",
                     device_failure::out_of_memory);
}

namespace {

std::size_t chunk_bytes(std::size_t asked, const tune::context& context) {
  if (asked == 0) throw argument_error("a pool cannot have chunks of no bytes");
  const device owner = context.device();
  const std::size_t most = owner.info().limits.max_allocation_bytes;
  return most == 0 ? asked : std::min(asked, most);  // zero if the API does not report the limit
}

std::size_t rounded_up(std::size_t bytes, std::size_t alignment) {
  const std::size_t rest = (alignment - bytes % alignment) % alignment;
  return bytes > SIZE_MAX - rest ? bytes : bytes + rest;
}

}  // namespace

struct pooled_allocator::mutex : std::mutex {};

pooled_allocator::pooled_allocator(const tune::context& context, const pool_options& options)
    : allocator(context),
      chunk_bytes_(chunk_bytes(options.chunk_bytes, context)),
      alignment_(block_alignment(options.alignment_bytes)),
      mutex_(std::make_unique<mutex>()) {}

pooled_allocator::~pooled_allocator() = default;

buffer pooled_allocator::do_allocate(std::size_t bytes) {
  const std::lock_guard lock(*mutex_);
  buffer taken = take(bytes);
  peak_bytes_in_use_ = std::max(peak_bytes_in_use_, bytes_in_use_locked());
  return taken;
}

buffer pooled_allocator::take(std::size_t bytes) {
  for (const chunk& each : chunks_) {
    if (auto taken = each->take(bytes)) return *taken;
  }
  chunks_.push_back(make_chunk(rounded_up(bytes, alignment_)));
  return chunks_.back()->take(bytes).value();
}

pooled_allocator::chunk pooled_allocator::make_chunk(std::size_t bytes) {
  const auto make = [&](std::size_t size) {
    return std::make_shared<detail::memory_chunk>(context().create_buffer(size), alignment_);
  };
  try {
    return make(std::max(bytes, chunk_bytes_));
  } catch (const device_error& failure) {
    if (failure.failure() != device_failure::out_of_memory) throw;
  }
  release_unused_locked();
  return make(bytes);
}

pool_statistics pooled_allocator::statistics() const {
  const std::lock_guard lock(*mutex_);
  pool_statistics result{.bytes_in_use = bytes_in_use_locked(),
                         .peak_bytes_in_use = peak_bytes_in_use_,
                         .chunks = chunks_.size()};
  for (const chunk& each : chunks_) result.bytes_reserved += each->bytes();
  return result;
}

void pooled_allocator::release_unused() {
  const std::lock_guard lock(*mutex_);
  release_unused_locked();
}

void pooled_allocator::release_unused_locked() {
  std::erase_if(chunks_, [](const chunk& each) { return each->bytes_in_use() == 0; });
}

std::size_t pooled_allocator::bytes_in_use_locked() const {
  std::size_t bytes = 0;
  for (const chunk& each : chunks_) bytes += each->bytes_in_use();
  return bytes;
}

}  // namespace tune
