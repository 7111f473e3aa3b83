// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <utility>

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

  /// What blocks are aligned to where this was asked for: no less than the device asks of
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

}  // namespace tune
