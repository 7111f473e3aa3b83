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
#include "libtune/measure/measure.hpp"

namespace tune::detail {

struct nvml_api;

/// The settings of a GPU before a search changed them. Locked clocks cannot be read, so they are
/// restored by unlocking: the clocks must not have been locked before.
struct original_settings {
  bool unlock_graphics = false;                 ///< the graphics clock has been locked
  bool unlock_memory = false;                   ///< the memory clock has been locked
  std::optional<unsigned> power_limit_mw = {};  ///< in milliwatts, if the limit has been changed

  /// True if there are settings to restore.
  explicit operator bool() const noexcept {
    return unlock_graphics || unlock_memory || power_limit_mw;
  }
  friend bool operator==(const original_settings&, const original_settings&) = default;
};

/// An NVIDIA GPU in NVIDIA's management library. The library is loaded at run time, and its binary
/// interface is declared in the source, because its header is often missing. Not thread-safe.
/// Functions throw error with the library's reason.
class nvml_device {
 public:
  /// Finds the device by its PCI address or, if that is unknown, by its UUID; in LIBTUNE_NVML's
  /// library, else the driver's.
  /// @throws error if there is no such library, or it does not know the device
  explicit nvml_device(const device_info& of);

  /// Energy since the driver was loaded, by the counter of the device (Volta or later). Empty
  /// without a counter.
  std::optional<double> counted_joules() const;
  /// The present power, over the shortest period that the driver offers.
  double watts() const;
  device_state state() const;
  supported_settings supported() const;

  /// True if a program or an administrator has locked the clocks.
  bool has_locked_clocks() const;
  /// Returns the settings to restore after these have been set.
  original_settings original(const device_settings& wanted) const;
  /// Sets the non-zero settings. @throws error if the device refuses, usually for lack of
  /// permission, or because it does not have the clock or limit
  /// @param done  the settings to restore, also after an exception
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

/// Makes a sensor from the counter of a GPU, or from its integrated power if it has no counter.
/// @throws error as nvml_device, or if it has neither
std::unique_ptr<energy_sensor> make_nvml_sensor(const device_info& of);

}  // namespace tune::detail
