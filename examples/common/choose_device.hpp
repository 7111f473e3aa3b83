// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "libtune/libtune.hpp"

namespace examples {

/// The device with this index, from --device, among those of all backends; without an index the
/// best. @throws tune::no_device_error without a device
inline tune::device choose_device(std::optional<std::size_t> index) {
  if (!index) return tune::select_device();
  const auto devices = tune::all_devices();
  if (*index < devices.size()) return devices[*index];
  throw tune::no_device_error("--device " + std::to_string(*index) + " asks for one of " +
                              std::to_string(devices.size()) + " devices, counted from 0");
}

}  // namespace examples
