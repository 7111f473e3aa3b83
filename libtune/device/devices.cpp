// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/devices.hpp"

#include "libtune/device/cuda/backend.hpp"
#include "libtune/device/opencl/backend.hpp"

namespace tune {

std::vector<backend_status> backends() {
  const cuda::inventory& of_cuda = cuda::take_inventory();
  const opencl::inventory& found = opencl::take_inventory();
  std::size_t count = 0;
  for (const opencl::platform& platform : found.platforms) count += platform.devices.size();
  return {{.name = "CUDA",
           .available = !of_cuda.devices.empty(),
           .reason = of_cuda.absence,
           .devices = of_cuda.devices.size()},
          {.name = "OpenCL", .available = count > 0, .reason = found.absence, .devices = count}};
}

std::vector<device> all_devices() { return take_inventory().all(); }

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
