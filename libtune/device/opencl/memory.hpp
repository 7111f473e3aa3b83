// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Buffers, memory that host and device share, and the commands that copy.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "libtune/device/opencl/context.hpp"
#include "libtune/device/opencl/device.hpp"
#include "libtune/device/queue_interface.hpp"

namespace tune::opencl {

class opencl_image;

/// A buffer; also the base of an image, which acts like a buffer except in kernels and copies.
class opencl_buffer : public detail::buffer_interface {
 public:
  /// @param access     the host's way of accessing it
  /// @param host_data  the host address, if access is direct
  opencl_buffer(std::shared_ptr<detail::context_interface> context, std::size_t bytes,
                cl::Buffer handle, managed_memory_kind access = managed_memory_kind::none,
                void* host_data = nullptr);
  /// A part of another buffer. @throws device_error
  opencl_buffer(const std::shared_ptr<const opencl_buffer>& parent, std::size_t offset_bytes,
                std::size_t bytes);
  ~opencl_buffer() override { leave_if_forked(handle_); }

  const cl::Buffer& handle() const noexcept { return handle_; }
  /// The image, if it is one; null for a buffer.
  virtual const opencl_image* image() const noexcept { return nullptr; }

 private:
  void* do_map(detail::queue_interface& queue, bool blocking) override;
  void do_unmap(detail::queue_interface& queue, void* data) override;

  cl::Buffer handle_;
  managed_memory_kind access_;
};

/// Returns the host's way of accessing a device's shared virtual memory: direct if it is
/// fine-grained.
managed_memory_kind managed_memory_of(const cl::Device& device) noexcept;

/// Makes a buffer over shared virtual memory. @throws device_error
std::shared_ptr<detail::buffer_interface> make_managed_buffer(
    const std::shared_ptr<opencl_context>& context, std::size_t bytes);

/// A buffer in host memory chosen by the driver, mapped during its life.
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

/// Enqueues the calls for a copy: a single one if the shape allows it.
/// @param events  gets the event of each call of a copy between buffers; may be null
/// @throws device_error
void enqueue_copy(const cl::CommandQueue& queue, const detail::copy_request& request,
                  const device_info& device, std::vector<cl::Event>* events = nullptr);

}  // namespace tune::opencl
