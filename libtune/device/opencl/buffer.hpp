// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>

#include "libtune/device/opencl/context.hpp"

namespace tune::opencl {

class opencl_buffer final : public detail::buffer_interface {
 public:
  /// @param access     how the host reaches it
  /// @param host_data  where, if that is directly
  opencl_buffer(std::shared_ptr<detail::context_interface> context, std::size_t bytes,
                cl::Buffer handle, managed_memory_kind access = managed_memory_kind::none,
                void* host_data = nullptr);
  /// A part of another. @throws device_error
  opencl_buffer(std::shared_ptr<const opencl_buffer> parent, std::size_t offset_bytes,
                std::size_t bytes);
  ~opencl_buffer() override { leave_if_forked(handle_); }

  const cl::Buffer& handle() const noexcept { return handle_; }

 private:
  void* do_map(detail::queue_interface& queue, bool blocking) override;
  void do_unmap(detail::queue_interface& queue, void* data) override;

  cl::Buffer handle_;
  managed_memory_kind access_;
};

}  // namespace tune::opencl
