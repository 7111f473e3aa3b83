// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "libtune/base/cxx20.hpp"

namespace tune {

class device;

/// The state of a device besides what it consumes. A sensor leaves zero what it cannot read.
struct device_state {
  double clock_mhz = 0;      ///< of the compute units
  double temperature_c = 0;  ///< of the chip
  /// The reasons for a throttle that passes: heat, or a brake of the power supply. Comma-separated
  /// words; empty if there is none. What is measured meanwhile is measured again.
  std::string throttled{};
  bool power_capped = false;  ///< the power limit lowers the clocks; lasts as long as the load
};

/// Reads what a device consumes. Implement it for a meter that libtune does not know, and register
/// it (registered_energy_sensor):
///
///   class wall_meter final : public tune::energy_sensor {
///     std::string name() const override { return "wall meter"; }
///     double joules() override { return meter.read_watt_hours() * 3600; }
///   };
///
/// Used by one thread at a time, not always the same one.
class energy_sensor {
 public:
  energy_sensor() = default;
  virtual ~energy_sensor() = default;
  energy_sensor(const energy_sensor&) = delete;
  energy_sensor& operator=(const energy_sensor&) = delete;

  /// Its name for logs and reports: "NVML's energy counter".
  virtual std::string name() const = 0;
  /// Returns the energy that the device has consumed since some moment, in joules. Never less than
  /// before. It may move in steps: their period is found by reading. Called every half millisecond.
  /// A sensor that has power alone integrates it here. @throws error if it cannot be read
  virtual double joules() = 0;
  /// Returns the state of the device now; called at the end of each measurement.
  virtual device_state state() { return {}; }
};

/// A sensor of a device, or the reason for having none.
struct found_energy_sensor {
  std::shared_ptr<energy_sensor> sensor;  ///< null if there is none
  std::string absence{};                  ///< the reason in words; empty if there is one
};

/// Makes the sensor of a device; null if it has none for this one.
using energy_sensor_factory = std::function<std::shared_ptr<energy_sensor>(const device&)>;

/// Registers a kind of sensor as long as it lives. Make it a static object, so that it is there in
/// a child process that tunes, too. Those registered last are asked first, and before libtune's
/// own. Thread-safe.
class registered_energy_sensor {
 public:
  /// @throws argument_error if there is no factory
  explicit registered_energy_sensor(energy_sensor_factory factory);
  ~registered_energy_sensor();
  registered_energy_sensor(const registered_energy_sensor&) = delete;
  registered_energy_sensor& operator=(const registered_energy_sensor&) = delete;

 private:
  const void* place_;
};

/// Returns the sensor of a device: a registered one, else NVML's counter of an NVIDIA GPU (CUDA or
/// OpenCL, found by its PCI address or UUID), else RAPL's of all packages of a CPU. Libraries are
/// loaded by the first call. What a factory throws is the reason for an absence.
found_energy_sensor find_energy_sensor(const device& of);

}  // namespace tune
