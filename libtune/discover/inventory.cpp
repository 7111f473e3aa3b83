// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/discover/inventory.hpp"

#include "libtune/cuda/backend.hpp"
#include "libtune/opencl/backend.hpp"

namespace tune {

std::vector<device> inventory::all() const {
  std::vector<device> devices = cuda_devices;
  for (const auto& platform : opencl_platforms) {
    devices.insert(devices.end(), platform.begin(), platform.end());
  }
  return devices;
}

inventory take_inventory() {
  inventory result;
  result.cuda_devices = cuda::take_inventory().devices;
  for (const opencl::platform& platform : opencl::take_inventory().platforms) {
    result.opencl_platforms.push_back(platform.devices);
  }
  return result;
}

}  // namespace tune
