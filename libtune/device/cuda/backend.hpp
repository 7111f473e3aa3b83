// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "libtune/device/backend.hpp"
#include "libtune/device/device.hpp"
#include "libtune/device/inclusion.hpp"
#include "libtune/device/kernel.hpp"

namespace tune::cuda {

const detail::backend& own_backend() noexcept;

/// The CUDA devices of this machine.
struct inventory {
  std::vector<device> devices;  ///< in the driver's order
  /// The reason for the absence of devices: the backend was left out of the library, the driver is
  /// missing or too old, it finds no device, or the compiler is missing. Empty if there is a
  /// device.
  std::string absence;
};

/// Asks the driver once in the life of the process. Thread-safe; never throws.
const inventory& take_inventory() noexcept;

/// Returns what context::create_program(source).binary() would return for a device of another
/// process, without a driver: only NVRTC is loaded, at the first call.
/// @param identity  context::compiler_identity there
/// @throws build_error with the compiler's log; tune::error if what compiles here is another
compiled_program compile_for(compute_capability device, const std::string& identity,
                             const program_source& source);

/// Does what the first call of compile_for does beside compiling: loads the compiler.
void prepare_compiler_for(compute_capability device, const std::string& identity);

/// A device of this generation that is not there: its contexts compile with NVRTC, which needs
/// neither a GPU nor a driver. What would need the device is a device_error.
/// @throws no_device_error if NVRTC is missing or does not compile for it
device compile_only_device(compute_capability capability);

}  // namespace tune::cuda
