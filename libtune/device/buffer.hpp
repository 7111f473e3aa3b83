// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "libtune/base/cxx20.hpp"

namespace tune {

namespace detail {
class buffer_interface;
}

/// Device memory, not typed, or a part of some (context::create_sub_buffer). A handle: copies mean
/// the same memory, which is released with the last of them and of its parts. Thread-safe.
class buffer {
 public:
  /// For libtune's backends; users call context::create_buffer.
  explicit buffer(std::shared_ptr<detail::buffer_interface> impl) noexcept
      : impl_(std::move(impl)) {}

  /// The number of bytes that commands and kernels may reach.
  std::size_t size_bytes() const noexcept;

  /// Where the host sees this memory at all times: for buffers of context::create_managed_buffer
  /// (and their parts) on a device whose device_info::managed_memory is direct. Use it only while
  /// no command that uses the buffer is under way: after command_queue::finish. Null for all other
  /// buffers: what has to be mapped has no address in between. command_queue::map works for both.
  void* host_data() const noexcept;

  /// For libtune's own code; null in a handle that was moved from.
  const std::shared_ptr<detail::buffer_interface>& impl() const noexcept { return impl_; }

  /// Whether two handles mean the same buffer. A part is not the whole, even where it is all of it.
  friend bool operator==(const buffer& a, const buffer& b) noexcept { return a.impl_ == b.impl_; }

 private:
  std::shared_ptr<detail::buffer_interface> impl_;
};

}  // namespace tune
