// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "libtune/device/device_info.hpp"
#include "libtune/store/device_lock.hpp"

namespace tune {

/// The right to measure on a device while nobody else does: no thread of this process, through
/// whichever backend, and no other process of any user that uses libtune. Given back at the end of
/// its life. It is courtesy, not safety: who has waited in vain measures all the same, with a
/// warning, and does not wait again until the device has been free once.
class [[nodiscard]] measuring_turn {
 public:
  /// @param wait  for others, at most
  measuring_turn(const device_info& device, std::chrono::milliseconds wait);
  ~measuring_turn();
  measuring_turn(const measuring_turn&) = delete;
  measuring_turn& operator=(const measuring_turn&) = delete;

  /// Whether nobody else can have a turn on the device now.
  bool is_alone() const noexcept { return alone_; }

 private:
  struct device_state;

  static device_state& state_of(const std::string& hardware);
  bool take(const std::string& hardware, std::chrono::milliseconds wait);

  device_state& state_;
  std::optional<device_lock> lock_;
  bool in_turn_ = false;  ///< among the threads of this process
  bool alone_ = false;
};

/// What tells a piece of hardware from others, the same for all backends: its PCI address, else its
/// UUID, else its name.
std::string hardware_name(const device_info& device);

}  // namespace tune
