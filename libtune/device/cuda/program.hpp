// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "libtune/device/cuda/context.hpp"
#include "libtune/device/cuda/cubin.hpp"

namespace tune::cuda {

/// A library of the driver: unlike a module it belongs to no context, and its kernels find theirs
/// by the stream that they are launched on.
class library_handle {
 public:
  /// Loads machine code, into this context at once, so that no launch has to.
  /// @param name  for messages
  /// @throws device_error (invalid_binary) if the driver does not accept it
  library_handle(const cuda_context& context, const std::string& name,
                 const std::vector<std::byte>& cubin);
  library_handle(const library_handle&) = delete;
  library_handle& operator=(const library_handle&) = delete;
  ~library_handle();

  /// @throws device_error if there is no such kernel
  CUkernel kernel(const std::string& name) const;

  /// See kernel_info::required_work_group_size.
  work_size required_work_group_size(const std::string& kernel) const;

 private:
  const cuda_context& context_;
  CUlibrary handle_ = nullptr;
  required_work_groups required_;
};

class cuda_program final : public detail::program_interface {
 public:
  cuda_program(const std::shared_ptr<cuda_context>& context, const std::string& name,
               std::vector<std::byte> cubin);

 private:
  std::unique_ptr<detail::kernel_interface> do_create_kernel(
      const std::string& name) const override;
  std::vector<std::byte> do_binary() const override { return cubin_; }

  std::vector<std::byte> cubin_;
  std::shared_ptr<const library_handle> library_;  // shared with its kernels
};

}  // namespace tune::cuda
