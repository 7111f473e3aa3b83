// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include "libtune/base/cxx20.hpp"

namespace tune {

namespace detail {
class pinned_memory_interface;
}

/// Host memory that a device copies from and to at full speed, and without blocking where a copy is
/// asked not to block. Not initialised; aligned for any type. A handle: copies mean the same
/// memory, which is released with the last of them: keep one until the copies have ended.
/// Thread-safe, but for what is stored in it.
class pinned_memory {
 public:
  explicit pinned_memory(std::shared_ptr<detail::pinned_memory_interface> impl) noexcept
      : impl_(std::move(impl)) {}

  void* data() const noexcept;
  std::size_t size_bytes() const noexcept;

 private:
  std::shared_ptr<detail::pinned_memory_interface> impl_;
};

}  // namespace tune
