// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>

#include "libtune/device/context.hpp"

namespace tune::detail {

/// Uninitialised memory of the host: ordinary, or pinned memory of a context. Owns it; a value:
/// copies are deep and of the same kind; one that was moved from may be assigned and destroyed.
class host_memory {
 public:
  /// Of ordinary memory: what the vectors of processors like best.
  static constexpr std::size_t alignment = 64;

  /// @throws std::bad_alloc
  explicit host_memory(std::size_t bytes);
  /// Pinned. @throws device_error (out_of_memory)
  host_memory(const context& context, std::size_t bytes);
  host_memory(const host_memory& other);
  host_memory(host_memory&&) noexcept = default;
  host_memory& operator=(const host_memory& other);
  host_memory& operator=(host_memory&&) noexcept = default;
  ~host_memory() = default;

  void* data() const noexcept { return data_.get(); }
  bool is_pinned() const noexcept { return context_ != nullptr; }

 private:
  // For copies, if it is pinned; not an optional context, which g++ 13 takes for uninitialised.
  std::shared_ptr<context_interface> context_;
  std::shared_ptr<void> data_;
  std::size_t bytes_;
};

}  // namespace tune::detail
