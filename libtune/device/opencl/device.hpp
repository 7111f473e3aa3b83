// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The only file that includes the OpenCL C++ bindings, so that all files have the same settings.
#pragma once

#define CL_HPP_ENABLE_EXCEPTIONS
#define CL_HPP_TARGET_OPENCL_VERSION 300
#define CL_HPP_MINIMUM_OPENCL_VERSION 200

#include <CL/opencl.hpp>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "libtune/base/forked_process.hpp"
#include "libtune/device/device.hpp"
#include "libtune/device/interface.hpp"

namespace tune::opencl {

/// For destructors: in a forked process, drops these handles without a call of the driver, which
/// might wait for threads of the parent.
template <class... Handles>
void leave_if_forked(Handles&... handles) noexcept {
  if (detail::is_forked()) ((handles() = nullptr), ...);
}

/// One device of one platform.
class opencl_device final : public detail::device_interface {
 public:
  /// @param most  limits the kind of managed memory
  opencl_device(const cl::Device& handle, const std::string& platform_name,
                managed_memory_kind most = managed_memory_kind::direct);

  /// A sub-device, with the properties of the whole device.
  opencl_device(detail::part_origin origin, std::size_t compute_units, const cl::Device& handle)
      : device_interface(std::move(origin), compute_units), handle_(handle) {}
  ~opencl_device() override { leave_if_forked(handle_); }

  const cl::Device& handle() const noexcept { return handle_; }

 private:
  std::shared_ptr<detail::context_interface> do_create_context(
      context_options options) const override;
  std::vector<std::shared_ptr<const device_interface>> do_divide(
      const std::vector<std::size_t>& compute_units) const override;

  cl::Device handle_;
};

/// The name of an OpenCL error code ("CL_OUT_OF_RESOURCES").
std::string error_name(cl_int code);

/// Throws the device_error for an OpenCL error.
/// @param call  the OpenCL function, or the attempted action
[[noreturn]] void throw_error(cl_int code, const std::string& call, const device_info& device);

/// Throws if a call of the C interface failed.
inline void check(cl_int code, const char* call, const device_info& device) {
  if (code != CL_SUCCESS) throw_error(code, call, device);
}

/// Runs calls of the C++ bindings and converts their exceptions.
template <class Calls>
decltype(auto) guarded(const device_info& device, Calls&& calls) {
  try {
    return std::forward<Calls>(calls)();
  } catch (const cl::Error& failure) {
    throw_error(failure.err(), failure.what(), device);
  }
}

}  // namespace tune::opencl
