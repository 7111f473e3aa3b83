// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

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

/// The options that libtune adds to those of a source, unless they speak of warnings; part of
/// context::compiler_identity.
std::string_view own_options(const device_info& device) noexcept;

/// A program as its driver has it, for kernels that the backend keeps to itself.
/// @throws build_error with the log, device_error
cl::Program build_program(const opencl_context& context, const program_source& source);

class opencl_program final : public detail::program_interface {
 public:
  /// Compiles. @throws build_error with the log
  opencl_program(const std::shared_ptr<opencl_context>& context, const program_source& source);
  /// Loads. @throws device_error (invalid_binary)
  opencl_program(const std::shared_ptr<opencl_context>& context, const std::string& name,
                 std::span<const std::byte> binary);
  ~opencl_program() override { leave_if_forked(handle_); }

  const cl::Program& handle() const noexcept { return handle_; }

 private:
  std::unique_ptr<detail::kernel_interface> do_create_kernel(
      const std::string& name) const override;
  std::vector<std::byte> do_binary() const override;

  cl::Device device_handle_;
  cl::Program handle_;
};

/// True if a device is one of PoCL, which compiles a kernel anew for each local size, when it is
/// first launched with that.
bool is_pocl(const device_info& device) noexcept;

/// The binary of a program of PoCL with what launches of these shapes will need; if none is given,
/// what launches of kernels with a required work group size will need. A local size of 0, 0, 0
/// stands for the required one too. The same is left in PoCL's kernel cache, where programs find it
/// that exist already.
/// For helper processes: it forks, because PoCL 3.1 reads the shapes from an environment variable
/// of which it remembers the first value. A signal that kills the child kills the caller.
std::vector<std::byte> pocl_binary(const program& made, std::span<const nd_range> launches);

}  // namespace tune::opencl
