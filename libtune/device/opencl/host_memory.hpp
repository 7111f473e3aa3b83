// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Memory that the host sees as well as the device.
#pragma once

#include <cstddef>
#include <memory>

#include "libtune/device/opencl/context.hpp"

namespace tune::opencl {

/// How the host reaches a device's shared virtual memory: directly where that is fine-grained.
managed_memory_kind managed_memory_of(const cl::Device& device) noexcept;

/// A buffer over shared virtual memory. @throws device_error
std::shared_ptr<detail::buffer_interface> make_managed_buffer(
    const std::shared_ptr<opencl_context>& context, std::size_t bytes);

/// A buffer in host memory of the driver's choice, mapped for as long as it lives.
class opencl_pinned_memory final : public detail::pinned_memory_interface {
 public:
  /// @throws device_error
  static std::shared_ptr<opencl_pinned_memory> create(
      const std::shared_ptr<opencl_context>& context, std::size_t bytes);

  opencl_pinned_memory(std::shared_ptr<opencl_context> context, cl::CommandQueue queue,
                       cl::Buffer handle, void* data, std::size_t bytes);
  ~opencl_pinned_memory() override;

 private:
  std::shared_ptr<opencl_context> context_;
  cl::CommandQueue queue_;
  cl::Buffer handle_;
};

}  // namespace tune::opencl
