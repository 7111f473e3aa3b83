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

/// The effort of measuring energy.
struct energy_settings {
  std::chrono::milliseconds time_each{420};  ///< for one configuration, over all visits
  int visits = 3;  ///< the most visits to each; fewer if the sensor's period requires longer ones
  /// The longest wait for a new value of the sensor.
  std::chrono::milliseconds silence{2000};
};

/// A load whose energy is measured: runs of one configuration.
struct energy_load {
  /// Makes this many consecutive runs, and waits for their end.
  /// @returns false if runs are no longer possible
  std::function<bool(int runs)> run;
  run_time expected;  ///< the approximate time of one run
};

/// The energy of one load. If its runs failed, numbers are NaN and the rest is empty.
struct energy_result {
  double joules = 0;              ///< of a run, in consecutive runs
  double watts = 0;               ///< the mean power during the runs
  double uncertainty = 0;         ///< relative, of both; from the times of the sensor's updates
  double clock_mhz = 0;           ///< the mean clock of the device; 0 if unknown
  double temperature_c = 0;       ///< the mean temperature of the device; 0 if unknown
  bool power_capped = false;      ///< the device ran at its power limit
  int repeated = 0;               ///< visits that were repeated because the device throttled
  std::string throttled{};        ///< the reasons, in visits that count or were repeated
  std::vector<double> samples{};  ///< joules of a run, for each visit
};

/// Measures the energy of loads, interleaved: each is visited in turn, every other round in
/// reverse, so that drift of the temperature does not favour the first. In a visit, a second thread
/// reads the sensor and records the times of its updates, while runs follow each other without a
/// gap. Energy and runs are counted from one update to another, so that neither the sensor's period
/// nor its resolution causes an error; the first updates of a visit, which still show the previous
/// load, do not count. A visit during which the device throttled is repeated.
/// @returns the results in the order of the loads
/// @throws error if the sensor cannot be read, or shows no new value for longer than
///         settings.silence
std::vector<energy_result> measure_energy(energy_sensor& sensor, std::span<const energy_load> loads,
                                          const energy_settings& settings = {});

namespace detail {

/// The time of a new value of the sensor.
struct sensor_edge {
  std::chrono::duration<double> at;           ///< the midpoint between two readings
  std::chrono::duration<double> uncertainty;  ///< half of the time between the readings
  double joules;                              ///< the new value
};

/// The end of a group of runs.
struct run_mark {
  std::chrono::duration<double> at;
  double runs;  ///< since the start of the visit
};

/// Energy, runs and time of one visit.
struct energy_count {
  double joules;
  double runs;
  double seconds;
  double uncertain_seconds;  ///< the uncertainty of seconds
};

/// Counts from the first edge at or after the given time to the last one before the last mark.
/// Empty if there are fewer than two such edges.
/// @param marks  the first at the start of the visit, in the order of time
std::optional<energy_count> count_energy(std::span<const sensor_edge> edges,
                                         std::span<const run_mark> marks,
                                         std::chrono::duration<double> from);

/// Returns the reasons for a throttled device, or that its clock fell although its power was not
/// limited; empty if it ran at a steady speed. @param states  of one visit, in the order of time
std::string why_throttled(std::span<const device_state> states);

/// The median time between edges; zero if there are fewer than two.
std::chrono::duration<double> period_of(std::span<const sensor_edge> edges);

}  // namespace detail
}  // namespace tune
