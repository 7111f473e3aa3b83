// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "libtune/device/context.hpp"
#include "libtune/device/device.hpp"
#include "libtune/extra/sensors/energy_meter.hpp"
#include "libtune/measure/peaks.hpp"
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

/// Compares trials whose measure declares the work of a run with the measured peaks of the device
/// (peaks_of). It adds "peak_gbs" (GB/s) for bytes that do not fit in the cache, "peak_gflops"
/// (GFLOP/s) for at least 10^7 operations of a declared arithmetic, and "least_time" (ns), the
/// longer one of the times of both. From them the search computes "of_bandwidth", "of_arithmetic"
/// and "of_peak" (%), the parts of the peaks that a trial reaches, refuses trials that are
/// impossibly fast, and can end early when one is good enough (tuning_budget::within). Every search
/// has one. A peak is measured once for a context and, with a store, once for all processes, before
/// the first runs that need it. A search measures it again at most three times, when runs seem
/// impossibly fast, and once when they exceed a kept peak, because other work may have slowed it.
class roofline_probe final : public probe {
 public:
  /// Measures nothing before its first use. @param of  the context that the search measures in
  /// @param kept  keeps the peaks between processes; may be null
  explicit roofline_probe(context of, std::shared_ptr<peak_store> kept = nullptr)
      : context_(std::move(of)), kept_(std::move(kept)) {}

  void before_runs(const trial& of, int runs) override;
  void after_runs(trial& of, std::span<const run_time> times) override;

 private:
  device_peaks find(const trial& of, bool again);

  context context_;
  std::shared_ptr<peak_store> kept_;
  std::set<arithmetic> found_;  // those that need not be measured any more; undeclared: memory
  int renewals_ = 0;
};

namespace detail {

/// Adds the roofline_probe and the probes that a goal needs and that LIBTUNE_METRICS requests to
/// the sources of a search, unless another source computes the same.
/// @param given  the author's sources
/// @param kept   keeps the peaks of the device; may be null
/// @throws error if the goal names energy or power, and the device has no sensor; environment_error
void add_device_probes(metric_sources& to, const metric_sources& given, const tuning_goal& goal,
                       const context& of, std::shared_ptr<peak_store> kept);

}  // namespace detail
}  // namespace tune
