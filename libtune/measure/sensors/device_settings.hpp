// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "libtune/base/cxx20.hpp"

namespace tune {

class device;

/// Settings of a GPU's hardware that a configuration runs with (measure::at). Zero leaves a setting
/// as it is: have it among the candidates, so that there is a configuration for those who may not
/// set anything.
struct device_settings {
  int graphics_clock_mhz = 0;  ///< of the compute units, locked at it
  int memory_clock_mhz = 0;    ///< of global memory, locked at it
  double power_limit_w = 0;    ///< the driver keeps the power below

  /// True if there is anything to set.
  explicit operator bool() const noexcept {
    return graphics_clock_mhz != 0 || memory_clock_mhz != 0 || power_limit_w != 0;
  }
  friend bool operator==(const device_settings&, const device_settings&) = default;
};

/// The candidates that a device offers for its settings.
struct supported_settings {
  std::vector<int> graphics_clocks_mhz{};  ///< descending
  std::vector<int> memory_clocks_mhz{};    ///< descending
  double least_power_limit_w = 0;          ///< zero if it cannot be limited
  double most_power_limit_w = 0;           ///< zero if it cannot be limited
};

/// Returns the settings that an NVIDIA GPU offers. To offer is not to permit: setting takes the
/// right of an administrator on most systems, and without it such configurations are skipped.
/// @throws error if there is no NVML, or it does not know the device
supported_settings find_supported_settings(const device& of);

}  // namespace tune
