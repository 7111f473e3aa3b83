// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "libtune/device/backend.hpp"
#include "libtune/device/device.hpp"

namespace tune::opencl {

const detail::backend& own_backend() noexcept;

/// An OpenCL platform and its devices.
struct platform {
  std::string name;
  std::vector<device> devices;
};

/// The OpenCL platforms and devices of this machine.
struct inventory {
  std::vector<platform> platforms;  ///< in the order of the loader, including those without devices
  std::string absence;              ///< the reason if there is no device; else empty
};

/// Asks the OpenCL loader on the first call. Thread-safe; never throws.
const inventory& take_inventory() noexcept;

}  // namespace tune::opencl
