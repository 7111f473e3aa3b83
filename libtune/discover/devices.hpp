// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "libtune/device/device.hpp"

namespace tune {

/// Whether a backend can be used here, and if not, why.
struct backend_status {
  std::string name;        ///< "CUDA", "OpenCL"
  bool available = false;  ///< it offers at least one device
  std::string reason;      ///< why it is not available; empty if it is
  std::size_t devices = 0;
};

/// Every backend that libtune knows, those that this library was built without included.
/// Thread-safe; never throws for an absent driver.
std::vector<backend_status> backends();

/// Every device of every backend, in the order that LIBTUNE_DEVICE counts them. Thread-safe.
std::vector<device> all_devices();

}  // namespace tune
