// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "libtune/base/error.hpp"
#include "libtune/device/cuda/driver.hpp"
#include "libtune/device/device.hpp"

namespace tune::cuda {

/// "CUDA_ERROR_OUT_OF_MEMORY: out of memory", and the number for a code that the driver cannot
/// name.
std::string error_text(const driver_api& api, CUresult code);

/// The class of an error code.
device_failure failure_of(CUresult code) noexcept;

/// Throws the device_error that an error code means.
/// @param call  the driver's function, or what was being done
[[noreturn]] void throw_error(const driver_api& api, CUresult code, const std::string& call,
                              const device_info& device);

/// Throws if a call failed.
inline void check(const driver_api& api, CUresult code, const char* call,
                  const device_info& device) {
  if (code != CUDA_SUCCESS) throw_error(api, code, call, device);
}

/// For destructors: logs if a call failed.
void log_failure(const driver_api& api, CUresult code, const char* call) noexcept;

}  // namespace tune::cuda
