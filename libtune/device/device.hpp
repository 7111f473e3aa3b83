// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>

#include "libtune/base/cxx20.hpp"
#include "libtune/device/device_info.hpp"

namespace tune {

struct context_options {
  /// Whether the context shares nothing with the rest of the process. Otherwise a CUDA context is
  /// the device's primary one, which the CUDA runtime and other libraries use too, so that memory
  /// and streams may be exchanged with them. Each OpenCL context is its own in any case.
  bool own = false;
};

class context;

namespace detail {
class device_interface;
}

/// A device that kernels can run on. A handle: copies mean the same device. Thread-safe.
class device {
 public:
  explicit device(std::shared_ptr<const detail::device_interface> impl) noexcept
      : impl_(std::move(impl)) {}

  const device_info& info() const noexcept;
  const device_identity& identity() const noexcept { return info().identity; }
  const device_limits& limits() const noexcept { return info().limits; }

  const std::string& name() const noexcept { return identity().name; }
  const std::string& platform_name() const noexcept { return identity().platform; }
  const std::string& driver_version() const noexcept { return identity().driver_version; }
  device_kind kind() const noexcept { return info().kind; }

  std::size_t max_work_group_size() const noexcept { return limits().max_work_group_size; }
  std::size_t local_memory_bytes() const noexcept { return limits().local_memory_bytes; }
  /// Work items that run in lockstep. A hint for speed, never for correctness.
  std::size_t simd_group_size() const noexcept { return limits().simd_group_size; }

  /// A new context. @throws device_error
  context create_context(context_options options = {}) const;

  const std::shared_ptr<const detail::device_interface>& impl() const noexcept { return impl_; }

  /// Whether two handles mean the same device of the same backend.
  friend bool operator==(const device& a, const device& b) noexcept { return a.impl_ == b.impl_; }

 private:
  std::shared_ptr<const detail::device_interface> impl_;
};

}  // namespace tune
