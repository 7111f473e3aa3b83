// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

namespace tune {

namespace detail {
class buffer_interface;
}

/// Device memory, not typed. A handle: copies mean the same memory, which is released with the
/// last of them. Thread-safe.
class buffer {
 public:
  explicit buffer(std::shared_ptr<detail::buffer_interface> impl) noexcept
      : impl_(std::move(impl)) {}

  std::size_t size_bytes() const noexcept;

  /// Where the host sees this memory, for buffers of context::create_managed_buffer; else null. Use
  /// it only while no command that uses the buffer is under way: after command_queue::finish.
  void* host_data() const noexcept;

  const std::shared_ptr<detail::buffer_interface>& impl() const noexcept { return impl_; }

  /// Whether two handles mean the same memory.
  friend bool operator==(const buffer& a, const buffer& b) noexcept { return a.impl_ == b.impl_; }

 private:
  std::shared_ptr<detail::buffer_interface> impl_;
};

}  // namespace tune
