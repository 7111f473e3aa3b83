// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>

#include "libtune/base/forked_process.hpp"
#include "libtune/device/interface.hpp"
#include "libtune/device/opencl/clhpp.hpp"

namespace tune::opencl {

/// For destructors: in a forked process, where the driver may wait for threads of the parent, it
/// does not hear of the end of these handles.
template <class... Handles>
void leave_if_forked(Handles&... handles) noexcept {
  if (detail::is_forked()) ((handles() = nullptr), ...);
}

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
