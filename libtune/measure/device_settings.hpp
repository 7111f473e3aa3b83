// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "libtune/base/cxx20.hpp"

namespace tune {

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

}  // namespace tune
