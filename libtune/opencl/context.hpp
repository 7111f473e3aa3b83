// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "libtune/opencl/device.hpp"

namespace tune::opencl {

class opencl_buffer final : public detail::buffer_interface {
 public:
  opencl_buffer(std::shared_ptr<detail::context_interface> context, std::size_t bytes,
                cl::Buffer handle, void* host_data = nullptr)
      : buffer_interface(std::move(context), bytes, host_data), handle_(std::move(handle)) {}

  const cl::Buffer& handle() const noexcept { return handle_; }

 private:
  cl::Buffer handle_;
};

class opencl_context final : public detail::context_interface {
 public:
  explicit opencl_context(const std::shared_ptr<const opencl_device>& device);

  const cl::Context& handle() const noexcept { return handle_; }
  const cl::Device& device_handle() const noexcept { return device_handle_; }

 private:
  std::shared_ptr<detail::buffer_interface> do_create_buffer(std::size_t bytes) override;
  std::shared_ptr<detail::buffer_interface> do_create_managed_buffer(std::size_t bytes) override;
  std::shared_ptr<detail::pinned_memory_interface> do_create_pinned_memory(
      std::size_t bytes) override;
  std::shared_ptr<detail::queue_interface> do_create_queue(
      detail::queue_settings settings) override;
  std::shared_ptr<detail::program_interface> do_create_program(
      const program_source& source) override;
  std::shared_ptr<detail::program_interface> do_create_program_from_binary(
      const std::string& name, std::span<const std::byte> binary) override;
  std::string do_compiler_identity() const override;

  cl::Device device_handle_;
  cl::Context handle_;
};

}  // namespace tune::opencl
