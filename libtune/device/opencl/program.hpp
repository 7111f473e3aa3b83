// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/device/device.hpp"
#include "libtune/device/kernel.hpp"
#include "libtune/device/opencl/context.hpp"

namespace tune::opencl {

/// Returns the options that libtune adds to those of a source, unless they concern warnings; part
/// of context::compiler_identity.
std::string_view own_options(const device_info& device) noexcept;

/// Returns the registers per work item of a kernel, from a log of NVIDIA's compiler with
/// -cl-nv-verbose; 0 if the log lacks them.
std::size_t registers_in_log(std::string_view log, const std::string& kernel);

/// Builds a program without a wrapper, for internal kernels of the backend.
/// @throws build_error with the log, device_error
cl::Program build_program(const opencl_context& context, const program_source& source);

class opencl_program final : public detail::program_interface {
 public:
  /// Compiles a source. @throws build_error with the log
  opencl_program(const std::shared_ptr<opencl_context>& context, const program_source& source);
  /// Loads a binary. @throws device_error (invalid_binary)
  opencl_program(const std::shared_ptr<opencl_context>& context, const std::string& name,
                 std::span<const std::byte> binary);
  ~opencl_program() override { leave_if_forked(handle_); }

  const cl::Program& handle() const noexcept { return handle_; }

 private:
  std::unique_ptr<detail::kernel_interface> do_create_kernel(
      const std::string& name) const override;
  std::vector<std::byte> do_binary() const override;
  [[noreturn]] void throw_no_kernel(cl_int status, const std::string& name) const;

  cl::Device device_handle_;
  cl::Program handle_;
};

/// True if a device belongs to PoCL, which compiles a kernel for each local size at the first
/// launch with it.
bool is_pocl(const device_info& device) noexcept;

class opencl_kernel final : public detail::kernel_interface {
 public:
  opencl_kernel(const std::shared_ptr<detail::context_interface>& context, cl::Kernel handle,
                const cl::Device& device);
  ~opencl_kernel() override { leave_if_forked(handle_); }

  const cl::Kernel& handle() const noexcept { return handle_; }

  /// Call it after the driver has refused a launch because of an argument.
  /// @throws device_error (invalid_launch) that names the first argument that is not set, if any
  void check_arguments() const;

  /// Sets the size of the dynamic local memory, which is the kernel's last argument, if it differs
  /// from the present one. @throws device_error if the kernel has none
  void set_dynamic_local_memory(std::size_t bytes);

 private:
  // The last value of an argument, so that setting it again costs no driver call.
  struct argument {
    bool is_set = false;
    std::size_t size = 0;  // 0: unknown, or too large to remember
    std::array<std::byte, 16> bytes{};
    std::shared_ptr<detail::buffer_interface> buffer;  // kept alive for later launches
  };

  void do_set_argument(std::size_t index, const void* bytes, std::size_t size) override;
  void do_set_buffer(std::size_t index,
                     const std::shared_ptr<detail::buffer_interface>& buffer) override;
  void do_set_sampler(std::size_t index,
                      const std::shared_ptr<detail::buffer_interface>& image) override;
  argument& at(std::size_t index);
  [[noreturn]] void throw_set_error(cl_int status, std::size_t index,
                                    const std::string& given) const;

  cl::Kernel handle_;
  std::vector<argument> arguments_;
  std::size_t dynamic_local_bytes_ = 0;  // 0: not set
};

}  // namespace tune::opencl
