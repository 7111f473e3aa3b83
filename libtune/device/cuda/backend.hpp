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
  /// The reason for the absence of devices: the library was built without the backend, the driver
  /// is missing or too old or finds no device, or the compiler is missing. Empty if there is a
  /// device.
  std::string absence;
};

/// Asks the driver on the first call. Thread-safe; never throws.
const inventory& take_inventory() noexcept;

/// Returns the result of context::create_program(source).binary() for a device of another process,
/// without a driver: the first call loads only NVRTC.
/// @param identity  context::compiler_identity in that process
/// @throws build_error with the compiler's log; tune::error if the compiler of this process differs
compiled_program compile_for(compute_capability device, const std::string& identity,
                             const program_source& source);

/// Loads the compiler, as the first call of compile_for would.
void prepare_compiler_for(compute_capability device, const std::string& identity);

/// Returns a device of this generation that need not exist: its contexts compile with NVRTC, which
/// needs neither a GPU nor a driver. Actions that need the device throw a device_error.
/// @throws no_device_error if NVRTC is missing or does not support this generation
device compile_only_device(compute_capability capability);

}  // namespace tune::cuda
