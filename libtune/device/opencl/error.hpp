// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <utility>

#include "libtune/device/device.hpp"
#include "libtune/device/opencl/clhpp.hpp"

namespace tune::opencl {

/// The name of an OpenCL error code ("CL_OUT_OF_RESOURCES").
std::string error_name(cl_int code);

/// Throws the device_error that an OpenCL error means.
/// @param call  the OpenCL function, or what was being done
[[noreturn]] void throw_error(cl_int code, const std::string& call, const device_info& device);

/// Throws if a call of the C interface failed.
inline void check(cl_int code, const char* call, const device_info& device) {
  if (code != CL_SUCCESS) throw_error(code, call, device);
}

/// Runs calls of the C++ bindings and turns their exceptions into ours.
template <class Calls>
decltype(auto) guarded(const device_info& device, Calls&& calls) {
  try {
    return std::forward<Calls>(calls)();
  } catch (const cl::Error& failure) {
    throw_error(failure.err(), failure.what(), device);
  }
}

}  // namespace tune::opencl
