// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "libtune/base/cxx20.hpp"

namespace tune {

class device;

/// The state of a device besides its energy. A sensor leaves zero for unknown values.
struct device_state {
  double clock_mhz = 0;      ///< of the compute units
  double temperature_c = 0;  ///< of the chip
  /// The reasons for transient throttling: heat, or a brake of the power supply. Comma-separated
  /// words; empty if the device does not throttle. Measurements during throttling are repeated.
  std::string throttled{};
  bool power_capped = false;  ///< true if the power limit lowers the clocks, for as long as the
                              ///< load lasts
};

/// Reads the energy that a device consumes. Implement it for a meter that libtune does not know,
/// and register it (registered_energy_sensor):
///
///   class wall_meter final : public tune::energy_sensor {
///     std::string name() const override { return "wall meter"; }
///     double joules() override { return meter.read_watt_hours() * 3600; }
///   };
///
/// Used by one thread at a time, but not always by the same one.
class energy_sensor {
 public:
  energy_sensor() = default;
  virtual ~energy_sensor() = default;
  energy_sensor(const energy_sensor&) = delete;
  energy_sensor& operator=(const energy_sensor&) = delete;

  /// Its name for logs and reports: "NVML's energy counter".
  virtual std::string name() const = 0;
  /// Returns the energy that the device has consumed since an arbitrary start, in joules. It never
  /// decreases, but may change in steps, whose period is found by reading. Called every half
  /// millisecond. A sensor that only has the power integrates it here. @throws error if it cannot
  /// be read
  virtual double joules() = 0;
  /// Returns the state of the device now; called at the end of each measurement.
  virtual device_state state() { return {}; }
};

/// A sensor of a device, or the reason for its absence.
struct found_energy_sensor {
  std::shared_ptr<energy_sensor> sensor;  ///< null if there is no sensor
  std::string absence{};                  ///< the reason in words; empty if there is a sensor
};

/// Makes the sensor of a device; null if it does not support the device.
using energy_sensor_factory = std::function<std::shared_ptr<energy_sensor>(const device&)>;

/// Registers a kind of sensor during the life of this object. Make it a static object, so that a
/// child process that tunes has it, too. Sensors registered last are tried first, and all before
/// libtune's own. Thread-safe.
class registered_energy_sensor {
 public:
  /// @throws argument_error if the factory is empty
  explicit registered_energy_sensor(energy_sensor_factory factory);
  ~registered_energy_sensor();
  registered_energy_sensor(const registered_energy_sensor&) = delete;
  registered_energy_sensor& operator=(const registered_energy_sensor&) = delete;

 private:
  const void* place_;
};

/// Returns the sensor of a device: a registered one, else NVML's counter of an NVIDIA GPU (CUDA or
/// OpenCL, found by its PCI address or UUID), else RAPL's counters of all packages of a CPU. The
/// first call loads the libraries. An exception of a factory becomes the reason for the absence.
found_energy_sensor find_energy_sensor(const device& of);

}  // namespace tune
