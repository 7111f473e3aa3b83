// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace tune {

/// What tells the results of one device from those of another: the device_* columns of the tuning
/// database.
struct device_identity {
  std::string name;
  std::string platform;
  std::string driver_version;

  friend bool operator==(const device_identity&, const device_identity&) = default;
};

}  // namespace tune
