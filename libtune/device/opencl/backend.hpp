// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "libtune/device/backend.hpp"
#include "libtune/device/device.hpp"

namespace tune::opencl {

const detail::backend& own_backend() noexcept;

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

}  // namespace tune::opencl
