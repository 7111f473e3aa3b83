// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace tune::opencl
