// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "libtune/device/context.hpp"
#include "libtune/device/device.hpp"
#include "libtune/measure/sensors/energy_meter.hpp"
#include "libtune/tune/goal.hpp"

namespace tune {

/// Adds the energy and the power of finalists to their trials: "energy" (J of a run), "power" (W),
/// "energy_uncertainty" (%), "core_clock" (MHz) and "temperature" (C), and where it happened
/// "power_capped" (1) and "throttled" (repeated measurements). A search whose goal names energy or
/// power has one by itself. Where there is no sensor, one log line says why.
class energy_probe final : public probe {
 public:
  /// Neither looks for a sensor nor loads a library before it is used.
  explicit energy_probe(device of, energy_settings settings = {})
      : device_(std::move(of)), settings_(settings) {}

  void compare(std::span<const finalist> finalists) override;
  std::vector<std::string> finalist_metrics() const override;

 private:
  device device_;
  energy_settings settings_;
};

/// Adds hardware counters of a CUDA device to the trial of the finalist that leads, or of all:
/// "memory_throughput", "compute_throughput" and "achieved_occupancy" (%), "memory_rate" (GB/s),
/// and the reasons for which warps waited ("stall_barrier", ..., %). They are read by CUPTI,
/// which is loaded then. Where that is not possible, one log line says why.
class counter_probe final : public probe {
 public:
  /// @param of   the context that the search measures in
  /// @param all  read them of all finalists, for a search whose goal names one of them
  explicit counter_probe(context of, bool all = false) : context_(std::move(of)), all_(all) {}

  void compare(std::span<const finalist> finalists) override;
  std::vector<std::string> finalist_metrics() const override;

 private:
  context context_;
  bool all_;
};

namespace detail {

/// Adds the probes that a goal needs and that LIBTUNE_METRICS asks for to those of a search, unless
/// another source computes the same.
/// @param given  the author's sources
/// @throws error if the goal names energy or power, and the device has no sensor; environment_error
void add_device_probes(metric_sources& to, const metric_sources& given, const tuning_goal& goal,
                       const context& of);

}  // namespace detail
}  // namespace tune
