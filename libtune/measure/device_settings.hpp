// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "libtune/base/cxx20.hpp"

namespace tune {

/// Settings of a GPU's hardware for a configuration (measure::at). Zero leaves a setting unchanged:
/// include it among the candidates, so that a user without the right to set anything has a
/// configuration too.
struct device_settings {
  int graphics_clock_mhz = 0;  ///< of the compute units; locked
  int memory_clock_mhz = 0;    ///< of global memory; locked
  double power_limit_w = 0;    ///< upper limit of the power

  /// True if any setting is to be changed.
  explicit operator bool() const noexcept {
    return graphics_clock_mhz != 0 || memory_clock_mhz != 0 || power_limit_w != 0;
  }
  friend bool operator==(const device_settings&, const device_settings&) = default;
};

}  // namespace tune
