// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "libtune/device/made_once.hpp"
#include "libtune/device/opencl/device.hpp"

namespace tune::opencl {

class fill_kernels;

class opencl_context final : public detail::context_interface {
 public:
  /// Makes a new context. @throws device_error
  explicit opencl_context(const std::shared_ptr<const opencl_device>& device);
  /// Wraps an existing context, which may also have other devices.
  opencl_context(const std::shared_ptr<const opencl_device>& device, cl::Context handle);
  ~opencl_context() override;

  const cl::Context& handle() const noexcept { return handle_; }
  const cl::Device& device_handle() const noexcept { return device_handle_; }

  /// The fill kernels, compiled by the first call. @throws device_error, build_error
  const opencl::fill_kernels& fill_kernels() const;

 private:
  std::shared_ptr<detail::buffer_interface> do_create_buffer(std::size_t bytes) override;
  std::shared_ptr<detail::buffer_interface> do_create_managed_buffer(std::size_t bytes) override;
  std::shared_ptr<detail::buffer_interface> do_create_image(const image_layout& layout) override;
  std::shared_ptr<detail::buffer_interface> do_create_sub_buffer(
      const std::shared_ptr<detail::buffer_interface>& parent, std::size_t offset_bytes,
      std::size_t bytes) override;
  std::shared_ptr<detail::pinned_memory_interface> do_create_pinned_memory(
      std::size_t bytes) override;
  std::shared_ptr<detail::queue_interface> do_create_queue(
      detail::queue_settings settings) override;
  std::shared_ptr<detail::program_interface> do_create_program(
      const program_source& source) override;
  std::shared_ptr<detail::program_interface> do_create_program_from_binary(
      const std::string& name, std::span<const std::byte> binary) override;
  std::string do_compiler_identity() const override;
  std::optional<memory_figures> do_memory() const override;

  cl::Device device_handle_;
  cl::Context handle_;
  detail::made_once<opencl::fill_kernels> fill_kernels_;
};

}  // namespace tune::opencl
