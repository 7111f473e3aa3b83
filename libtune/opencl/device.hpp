// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "libtune/device/interface.hpp"
#include "libtune/opencl/clhpp.hpp"

namespace tune::opencl {

/// One device of one platform.
class opencl_device final : public detail::device_interface {
 public:
  /// @param most  managed memory of a better kind is not made use of
  opencl_device(const cl::Device& handle, const std::string& platform_name,
                managed_memory_kind most = managed_memory_kind::direct);

  const cl::Device& handle() const noexcept { return handle_; }

 private:
  std::shared_ptr<detail::context_interface> do_create_context(
      context_options options) const override;

  cl::Device handle_;
};

}  // namespace tune::opencl
