// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

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

}  // namespace tune
