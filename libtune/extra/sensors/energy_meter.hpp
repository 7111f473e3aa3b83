// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libtune/extra/sensors/energy_sensor.hpp"
#include "libtune/measure/timing/samples.hpp"

namespace tune {

/// The cost of measuring energy.
struct energy_settings {
  std::chrono::milliseconds time_each{420};  ///< for one configuration, all visits
  int visits = 3;  ///< to each, at most; fewer where the sensor's period asks for longer ones
  /// The longest wait for a new value of the sensor.
  std::chrono::milliseconds silence{2000};
};

/// A load whose energy is measured: runs of one configuration.
struct energy_load {
  /// Makes so many runs, one directly after the other, and waits for their end.
  /// @returns false if they cannot be made any more
  std::function<bool(int runs)> run;
  run_time expected;  ///< the time of one run, about
};

/// The energy of one load. All NaN and empty where its runs failed.
struct energy_result {
  double joules = 0;              ///< of a run, while runs follow each other
  double watts = 0;               ///< the mean power meanwhile
  double uncertainty = 0;         ///< of both, relative, by the moments at which the sensor moved
  double clock_mhz = 0;           ///< the mean of the device's; 0 if unknown
  double temperature_c = 0;       ///< the mean of the device's; 0 if unknown
  bool power_capped = false;      ///< the device ran at its power limit
  int repeated = 0;               ///< visits that were repeated because the device throttled
  std::string throttled{};        ///< the reasons, of the visits that count or were repeated
  std::vector<double> samples{};  ///< joules of a run, by visit
};

/// Measures the energy of loads, interleaved: each is visited in turn, every other round in
/// reverse, so that the temperature's drift does not favour the first. In a visit a second thread
/// reads the sensor, and finds the moments at which it moves, while runs follow each other without
/// a gap. Energy and runs are counted from one such moment to another, so that neither the sensor's
/// period nor its step is an error; the first of a visit, which still shows the load before, do not
/// count. A visit during which the device throttled is repeated.
/// @returns the results in the order of the loads
/// @throws error if the sensor cannot be read, or shows no new value for longer than the silence
std::vector<energy_result> measure_energy(energy_sensor& sensor, std::span<const energy_load> loads,
                                          const energy_settings& settings = {});

namespace detail {

/// A moment at which the sensor showed a new value.
struct sensor_edge {
  std::chrono::duration<double> at;           ///< the middle between two readings
  std::chrono::duration<double> uncertainty;  ///< half of the time between them
  double joules;                              ///< the new value
};

/// The end of some runs.
struct run_mark {
  std::chrono::duration<double> at;
  double runs;  ///< since the visit began
};

/// Energy and runs of one visit, and their time.
struct energy_count {
  double joules;
  double runs;
  double seconds;
  double uncertain_seconds;  ///< how far that may be wrong
};

/// Counts from the first edge that is not before the given time to the last one within the marks.
/// Empty if there are not two of them.
/// @param marks  the first at the begin of the visit, in the order of time
std::optional<energy_count> count_energy(std::span<const sensor_edge> edges,
                                         std::span<const run_mark> marks,
                                         std::chrono::duration<double> from);

/// The reasons for which the device throttled, or that its clock fell although its power was not
/// limited; empty
/// if it ran at a steady speed. @param states  of one visit, in the order of time
std::string why_throttled(std::span<const device_state> states);

/// The median time between edges; zero if there are fewer than two.
std::chrono::duration<double> period_of(std::span<const sensor_edge> edges);

}  // namespace detail
}  // namespace tune
