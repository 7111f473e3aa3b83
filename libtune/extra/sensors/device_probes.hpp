// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "libtune/device/context.hpp"
#include "libtune/device/device.hpp"
#include "libtune/extra/sensors/energy_meter.hpp"
#include "libtune/tune/goal.hpp"
#include "libtune/tune/metric_sources.hpp"

namespace tune {

/// Adds the energy and the power of finalists to their trials: "energy" (J of a run), "power" (W),
/// "energy_uncertainty" (%), "core_clock" (MHz) and "temperature" (C), and, if it happened,
/// "power_capped" (1) and "throttled" (repeated measurements). A search whose goal names energy or
/// power has this probe by default. Without a sensor, one log line gives the reason.
class energy_probe final : public probe {
 public:
  /// Looks for a sensor and loads a library only on first use.
  explicit energy_probe(device of, energy_settings settings = {})
      : device_(std::move(of)), settings_(settings) {}

  void compare(std::span<const finalist> finalists) override;
  std::vector<std::string> finalist_metrics() const override;

 private:
  device device_;
  energy_settings settings_;
};

/// Adds hardware counters of a CUDA device to the trial of the leading finalist, or of all:
/// "memory_throughput", "compute_throughput" and "achieved_occupancy" (%), "memory_rate" (GB/s),
/// and the reasons for which warps waited ("stall_barrier", ..., %). CUPTI reads them, and is
/// loaded on first use. If that is not possible, one log line gives the reason.
class counter_probe final : public probe {
 public:
  /// @param of   the context that the search measures in
  /// @param all  true to read all counters of all finalists, for a goal that names a counter
  explicit counter_probe(context of, bool all = false) : context_(std::move(of)), all_(all) {}

  void compare(std::span<const finalist> finalists) override;
  std::vector<std::string> finalist_metrics() const override;

 private:
  context context_;
  bool all_;
};

namespace detail {

/// Adds the probes that a goal needs and that LIBTUNE_METRICS requests to
/// the sources of a search, unless another source computes the same.
/// @param given  the author's sources
/// @throws error if the goal names energy or power, and the device has no sensor; environment_error
void add_device_probes(metric_sources& to, const metric_sources& given, const tuning_goal& goal,
                       const context& of);

}  // namespace detail
}  // namespace tune
