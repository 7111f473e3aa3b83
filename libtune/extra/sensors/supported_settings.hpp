// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "libtune/base/cxx20.hpp"

namespace tune {

class device;

/// The settings that a device supports.
struct supported_settings {
  std::vector<int> graphics_clocks_mhz{};  ///< descending
  std::vector<int> memory_clocks_mhz{};    ///< descending
  double least_power_limit_w = 0;          ///< zero if the power cannot be limited
  double most_power_limit_w = 0;           ///< zero if the power cannot be limited
};

/// Returns the settings that an NVIDIA GPU supports. On most systems, changing them takes
/// administrator rights, without which such configurations are skipped.
/// @throws error if there is no NVML, or it does not know the device
supported_settings find_supported_settings(const device& of);

}  // namespace tune
