// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "libtune/device/device.hpp"
#include "libtune/extra/sensors/energy_sensor.hpp"
#include "libtune/extra/sensors/supported_settings.hpp"
#include "libtune/measure/device_settings.hpp"

namespace tune::detail {

struct nvml_api;

/// The settings of a GPU before a search changed them. Locked clocks cannot be read, so they are
/// unlocked: the clocks must not have been locked before.
struct original_settings {
  bool unlock_graphics = false;                 ///< the graphics clock has been locked
  bool unlock_memory = false;                   ///< the memory clock has been locked
  std::optional<unsigned> power_limit_mw = {};  ///< in milliwatts, if the limit has been changed

  /// True if there is anything to restore.
  explicit operator bool() const noexcept {
    return unlock_graphics || unlock_memory || power_limit_mw;
  }
  friend bool operator==(const original_settings&, const original_settings&) = default;
};

/// An NVIDIA GPU as NVIDIA's management library sees it. The library is loaded while the program
/// runs, and its binary interface is declared in the source, because its header is not everywhere
/// where the driver is. Not thread-safe. Functions throw error with the library's reason.
class nvml_device {
 public:
  /// The device with the PCI address or, where that is unknown, the UUID of this one; from
  /// LIBTUNE_NVML's library, else the driver's.
  /// @throws error if there is no such library, or it does not know the device
  explicit nvml_device(const device_info& of);

  /// Energy since the driver was loaded, by the counter of the device (Volta or later).
  /// Empty if it has none.
  std::optional<double> counted_joules() const;
  /// The power just now, of the shortest period that the driver offers.
  double watts() const;
  device_state state() const;
  supported_settings supported() const;

  /// True if a program or an administrator has locked the clocks.
  bool has_locked_clocks() const;
  /// Returns what there will be to restore after these have been set.
  original_settings original(const device_settings& wanted) const;
  /// Sets those that are not zero. @throws error if the device refuses, most often for want of
  /// permission, or because it has no such clock or limit
  /// @param done  what has to be restored, also after an exception
  void set(const device_settings& wanted, original_settings& done) const;
  /// Restores all it can before it throws.
  void restore(const original_settings& before) const;

 private:
  void require(int status, const char* call) const;
  std::optional<std::uint64_t> reasons() const;

  const nvml_api& api_;
  std::string name_;
  void* handle_ = nullptr;
};

/// The counter of a GPU, or its power, integrated where it has no counter.
/// @throws error as nvml_device, or if it has neither
std::unique_ptr<energy_sensor> make_nvml_sensor(const device_info& of);

}  // namespace tune::detail
