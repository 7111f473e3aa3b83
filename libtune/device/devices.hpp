// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "libtune/device/device.hpp"

namespace tune {

/// The devices of this machine as selection sees them. A plain value, so that selection can be
/// tested with devices that are not there.
struct inventory {
  /// For each OpenCL platform its devices; platforms without devices keep their place.
  std::vector<std::vector<device>> opencl_platforms;
  std::vector<device> cuda_devices = {};  ///< in the driver's order

  /// All devices, in the order of their index: CUDA's, then OpenCL's platform by platform.
  std::vector<device> all() const;
};

/// What is on this machine.
inventory take_inventory();

/// Whether a backend can be used here, and if not, why.
struct backend_status {
  std::string name;         ///< "CUDA", "OpenCL"
  bool available = false;   ///< it offers at least one device
  std::string reason;       ///< why it is not available; empty if it is
  std::size_t devices = 0;  ///< how many it offers, before any filter
};

/// Every backend that libtune knows, those that this library was built without included.
/// Thread-safe; never throws for an absent driver.
std::vector<backend_status> backends();

/// Every device of every backend, in the order that LIBTUNE_DEVICE counts them. Thread-safe.
std::vector<device> all_devices();

}  // namespace tune
