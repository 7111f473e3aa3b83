// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include "libtune/device/device.hpp"

namespace tune {

/// Devices that share their results: of one identity, through one backend. One at least.
struct device_group {
  std::vector<device> devices{};

  const device_info& info() const { return devices.front().info(); }
};

/// The groups of some devices, in the order in which they first occur.
std::vector<device_group> group_devices(std::span<const device> devices);

}  // namespace tune
