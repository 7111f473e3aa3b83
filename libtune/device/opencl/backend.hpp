// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libtune/device/context.hpp"
#include "libtune/device/device.hpp"
#include "libtune/device/inclusion.hpp"
#include "libtune/device/kernel.hpp"

namespace tune::opencl {

/// An OpenCL platform and the devices that it offers.
struct platform {
  std::string name;
  std::vector<device> devices;
};

/// The OpenCL platforms and devices of this machine.
struct inventory {
  std::vector<platform> platforms;  ///< in the order of the loader, those without devices included
  std::string absence;              ///< why there is no device; empty if there is one
};

/// Asks the OpenCL loader once in the life of the process. Thread-safe; never throws.
const inventory& take_inventory() noexcept;

/// A device that compiles as one does that another process has, looked for in its platform alone:
/// the first of this name and driver, for equal ones compile alike. Empty if there is none.
/// @throws tune::error if the loader or the platform fails
std::optional<device> find_device(const std::string& platform_name, const std::string& name,
                                  const std::string& driver_version);

/// Returns context.create_program(source).binary() and the files that went into it. PoCL's holds in
/// addition the code that the first launches of these shapes would still have compiled. For helper
/// processes, because it forks and changes the current folder.
/// @param folder  where paths in the source and its options begin; absolute
/// @throws build_error, device_error
compiled_program compile_to_binary(const context& context, const program_source& source,
                                   std::span<const nd_range> launches, const std::string& folder);

}  // namespace tune::opencl
