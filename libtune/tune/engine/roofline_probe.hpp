// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <set>
#include <span>
#include <utility>

#include "libtune/device/context.hpp"
#include "libtune/measure/peaks.hpp"
#include "libtune/tune/metric_sources.hpp"

namespace tune::detail {

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

}  // namespace tune::detail
