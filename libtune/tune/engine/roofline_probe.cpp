// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/roofline_probe.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

#include "libtune/device/device.hpp"
#include "libtune/tune/engine/step_hooks.hpp"
#include "libtune/tune/engine/trial_judge.hpp"
#include "libtune/tune/engine/tuning_scopes.hpp"

namespace tune::detail {
namespace {

// The most new measurements of peaks, after runs that seem faster than the peaks allow.
constexpr int most_renewals = 3;
// Times below this part of the least one are a reason to measure kept peaks once more.
constexpr double doubtful = 0.95;

/// Time that is not the configuration's, for the watchdog: peaks are measured within a step.
class [[nodiscard]] unwatched {
 public:
  unwatched() : listener_(current_listener()) {
    constexpr std::chrono::minutes longest{2};
    if (listener_ != nullptr) (*listener_)(wait_begin{longest});
  }
  ~unwatched() {
    if (listener_ != nullptr) (*listener_)(wait_end{});
  }
  unwatched(const unwatched&) = delete;
  unwatched& operator=(const unwatched&) = delete;

 private:
  const step_listener* listener_;
};

}  // namespace

void roofline_probe::before_runs(const trial& of, int /*runs*/) { find(of, false); }

// Bytes in the cache and short arithmetic need no peak, so that none is measured for them.
device_peaks roofline_probe::find(const trial& of, bool again) {
  const double least_bytes = 4 * static_cast<double>(context_.device().limits().cache_bytes);
  const bool calculates = of.work.flops >= least_operations;
  const wanted_peaks wanted{.memory = of.work.bytes > 0 && of.work.bytes >= least_bytes,
                            .by = calculates ? of.work.arithmetic : arithmetic::undeclared,
                            .kept = kept_.get()};
  const auto is_new = [&](arithmetic kind) { return found_.insert(kind).second; };
  const bool new_memory = wanted.memory && is_new(arithmetic::undeclared);
  const bool new_arithmetic = wanted.by != arithmetic::undeclared && is_new(wanted.by);
  std::optional<unwatched> measuring;
  if (again || new_memory || new_arithmetic) measuring.emplace();
  return again ? renew_peaks(context_, wanted) : peaks_of(context_, wanted);
}

void roofline_probe::after_runs(trial& of, std::span<const run_time> times) {
  const auto least_time = [&](const device_peaks& peaks) {
    const auto ns = [](double work, double rate) { return rate > 0 ? 1e9 * work / rate : 0; };
    return std::max(ns(of.work.bytes, peaks.bytes_per_second),
                    ns(of.work.flops, peaks.operations_per_second));
  };
  device_peaks peaks = find(of, false);
  const double known = least_time(peaks);
  if (known <= 0) return;
  const auto is_wrong = [&](run_time time) { return is_impossible(time, known); };
  const auto is_doubtful = [&](run_time time) { return time.count() < doubtful * known; };
  const bool at_first = renewals_ == 0 && kept_ != nullptr;
  if ((renewals_ < most_renewals && std::ranges::any_of(times, is_wrong)) ||
      (at_first && std::ranges::any_of(times, is_doubtful))) {
    ++renewals_;
    peaks = find(of, true);
  }
  const auto add = [&](const char* name, double rate, const char* unit) {
    if (rate > 0) set_metric(of.metrics, {name, 1e-9 * rate, unit});
  };
  add("peak_gbs", peaks.bytes_per_second, "GB/s");
  add("peak_gflops", peaks.operations_per_second, "GFLOP/s");
  set_metric(of.metrics, {"least_time", least_time(peaks), "ns"});
}

}  // namespace tune::detail
