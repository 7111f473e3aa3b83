// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/device/backend.hpp"

#include <algorithm>
#include <array>

#include "libtune/device/cuda/backend.hpp"
#include "libtune/device/opencl/backend.hpp"

namespace tune::detail {

std::vector<device> offered_devices::all() const {
  std::vector<device> devices;
  for (const auto& platform : platforms) {
    devices.insert(devices.end(), platform.begin(), platform.end());
  }
  return devices;
}

std::span<const backend* const> all_backends() noexcept {
  static const std::array all{&cuda::own_backend(), &opencl::own_backend()};
  return all;
}

const backend* find_backend(std::string_view name) noexcept {
  const auto all = all_backends();
  const auto found = std::ranges::find(all, name, [](const backend* each) { return each->name(); });
  return found == all.end() ? nullptr : *found;
}

}  // namespace tune::detail
