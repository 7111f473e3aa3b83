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

/// Options of device::create_context.
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
  /// For libtune's backends; users call all_devices or select_device.
  explicit device(std::shared_ptr<const detail::device_interface> impl) noexcept
      : impl_(std::move(impl)) {}

  /// All properties, as read once at discovery; lives as long as a handle to the device.
  const device_info& info() const noexcept;
  /// The properties that tell its tuning results from those of other devices.
  const device_identity& identity() const noexcept { return info().identity; }
  /// The largest launches and allocations that the device takes.
  const device_limits& limits() const noexcept { return info().limits; }

  /// The name that the driver reports, such as "NVIDIA H200".
  const std::string& name() const noexcept { return identity().name; }
  /// "CUDA", or the name of the OpenCL platform.
  const std::string& platform_name() const noexcept { return identity().platform; }
  /// The version of the driver as text; for CUDA the one of its API, as "driver 12.4".
  const std::string& driver_version() const noexcept { return identity().driver_version; }
  /// Whether the device is a GPU, a CPU or another kind.
  device_kind kind() const noexcept { return info().kind; }

  /// The most work items in a work group; a kernel may allow fewer (kernel_info).
  std::size_t max_work_group_size() const noexcept { return limits().max_work_group_size; }
  /// The most bytes of local memory that the kernels may declare for a work group.
  std::size_t local_memory_bytes() const noexcept { return limits().local_memory_bytes; }
  /// Work items that run in lockstep. A hint for speed, never for correctness.
  std::size_t simd_group_size() const noexcept { return limits().simd_group_size; }

  /// A new context. @throws device_error
  context create_context(context_options options = {}) const;

  /// For libtune's own code; null in a handle that was moved from.
  const std::shared_ptr<const detail::device_interface>& impl() const noexcept { return impl_; }

  /// Whether two handles mean the same device of the same backend.
  friend bool operator==(const device& a, const device& b) noexcept { return a.impl_ == b.impl_; }

 private:
  std::shared_ptr<const detail::device_interface> impl_;
};

}  // namespace tune
