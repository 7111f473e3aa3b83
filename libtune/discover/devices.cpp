// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/discover/devices.hpp"

#include "libtune/discover/inventory.hpp"
#include "libtune/opencl/backend.hpp"

namespace tune {

std::vector<backend_status> backends() {
  const opencl::inventory& found = opencl::take_inventory();
  std::size_t count = 0;
  for (const opencl::platform& platform : found.platforms) count += platform.devices.size();
  return {{.name = "OpenCL", .available = count > 0, .reason = found.absence, .devices = count}};
}

std::vector<device> all_devices() { return take_inventory().all(); }

}  // namespace tune
