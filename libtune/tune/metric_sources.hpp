// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/base/metric.hpp"
#include "libtune/measure/timing/samples.hpp"
#include "libtune/tune/trial.hpp"

namespace tune {

/// Returns a figure of a trial by its name: one of its metrics, else a statistic of its samples in
/// nanoseconds: "time" (the median), "mean", "min", "spread", or a percentile ("p99"). NaN if the
/// trial has no figure of this name.
double metric_value(const trial& of, std::string_view name);

/// A metric that is computed from the rest of a trial: its configuration, samples and metrics.
/// Computed metrics can use those before them.
///
///   {.name = "bytes_per_joule",
///    .compute = [](const tune::trial& t) { return 1e6 / tune::metric_value(t, "energy"); },
///    .unit = "B/J", .finalists = true}
///
/// A function that throws makes the metric unknown (NaN) and the exception's text a part of the
/// trial's reason; the search goes on.
struct computed_metric {
  std::string name{};                             ///< a name for set_metric
  std::function<double(const trial&)> compute{};  ///< the value for a trial
  std::string unit{};                             ///< "GB/s"; empty for counts and ratios
  /// True if it needs metrics that only finalists have. Otherwise, in a search that compares
  /// configurations by it, it is computed again for each sample, as if that were the only one.
  bool finalists = false;
};

/// A configuration of the last comparison. A probe may run it any number of times.
struct finalist {
  const trial& result;  ///< its trial so far
  /// Runs it `runs` times, one after the other, and returns the times: one for each run, the mean
  /// of several with a coarse timer, or of all if the measure times itself. Empty if it has failed.
  std::function<std::vector<run_time>(int runs)> run;
  /// Makes the same runs without timing them, so that nothing runs between them. False if it has
  /// failed.
  std::function<bool(int runs)> repeat;
  /// Adds a value to its trial (set_metric).
  std::function<void(metric)> add;
};

/// Watches configurations in the process that compiles and runs them, and may add values to their
/// trials. An observer cannot do this, because it only receives events when a child process tunes.
/// Called by the thread of the search; by several threads at once if an application tunes on
/// several. The text of an exception becomes a part of the trial's reason, and the search goes on.
class probe {
 public:
  probe() = default;
  virtual ~probe() = default;
  probe(const probe&) = delete;
  probe& operator=(const probe&) = delete;

  /// The author's function is about to be called for a configuration: to compile its programs, or
  /// with programs that helpers have compiled. Called again for each further program.
  virtual void before_compile(const trial&) {}
  /// The configuration can be run: its programs are compiled and its memory is allocated.
  virtual void after_compile(trial&) {}
  /// The given number of timed runs is about to be made, one after the other; the device is idle.
  virtual void before_runs(const trial&, int /*runs*/) {}
  /// The runs have ended, and took these times. Other configurations run in between.
  virtual void after_runs(trial&, std::span<const run_time>) {}
  /// Measures all finalists, the best by the results so far first: for metrics that take too long
  /// to be measured for every configuration. Called while nothing else uses the device.
  virtual void compare(std::span<const finalist>) {}
  /// The metrics that only compare() adds. A search for one of them compares the others by time.
  virtual std::vector<std::string> finalist_metrics() const { return {}; }
};

/// The sources of the metrics of a search: the author's, given to tuning_session::tune, and the
/// application's, in its tuning_options. The author's come first.
///
/// A child process that tunes has the author's sources, because it calls the author's function. Of
/// the application's sources it has the ones registered by a static object (registered_metrics).
/// The others cannot be sent: they are used if the search runs in the process of the application,
/// and otherwise their computed metrics are added to a child's measurements for the output alone.
struct metric_sources {
  std::vector<computed_metric> computed{};       ///< metrics in the order of their computation
  std::vector<std::shared_ptr<probe>> probes{};  ///< called in this order

  /// True without any source.
  bool empty() const noexcept { return computed.empty() && probes.empty(); }
};

/// Registers sources for every search of this program and of its children that tune. Make it a
/// static object, so that a child has it too.
class registered_metrics {
 public:
  /// @throws argument_error if a name is taken
  explicit registered_metrics(metric_sources sources);
};

namespace detail {

/// Returns the registered sources, in the order of registration.
metric_sources registered_sources();

}  // namespace detail
}  // namespace tune
