// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "libtune/device/device.hpp"

namespace tune::cuda {

/// What CUDA offers on this machine.
struct inventory {
  std::vector<device> devices;  ///< in the driver's order
  /// Why there is no device: the backend was left out of the library, the driver is missing or too
  /// old, it finds no device, or the compiler is missing. Empty if there is one.
  std::string absence;
};

/// Asks the driver once in the life of the process. Thread-safe; never throws.
const inventory& take_inventory() noexcept;

}  // namespace tune::cuda
