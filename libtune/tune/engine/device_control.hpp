// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "libtune/device/device.hpp"
#include "libtune/measure/device_settings.hpp"

namespace tune::detail {

/// Sets the hardware of a device for a configuration (measure::at), and restores it afterwards. For
/// the thread that has the device lease. Thread-safe.
///
/// Before anything is set, the settings to restore are written to a record in a folder of the user
/// (in /dev/shm, else /tmp, whose contents last as long as the settings do: until the next boot),
/// which stays locked by this process. So any process of the user that finds
/// a record without a lock may restore it.
class device_control {
 public:
  /// Sets these; those that are zero are as they were before the first call. Costs nothing as long
  /// as nothing is ever set.
  /// @throws error if the device or the system refuses, with the reason; then nothing is set
  static void set(const device_info& device, const device_settings& wanted);
  /// Restores what this process has set on the device; logs a failure.
  static void restore(const device_info& device) noexcept;
  /// Restores what processes of this user have set that have ended since, on every device; logs
  /// what it does.
  static void restore_left_behind() noexcept;
};

/// Begins without settings that were left behind, and restores those of a device at the end.
class restored_device {
 public:
  /// @param device  outlives this
  explicit restored_device(const device_info& device) : device_(device) {
    device_control::restore_left_behind();
  }
  ~restored_device() { device_control::restore(device_); }
  restored_device(const restored_device&) = delete;
  restored_device& operator=(const restored_device&) = delete;

 private:
  const device_info& device_;
};

}  // namespace tune::detail
