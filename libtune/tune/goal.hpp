// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libtune/base/metric.hpp"
#include "libtune/tune/trial.hpp"

namespace tune {

/// A metric to make as small, or as large, as possible.
struct objective {
  std::string metric = "time";  ///< its name
  bool maximise = false;        ///< else it is minimised

  /// True if all is equal.
  friend bool operator==(const objective&, const objective&) = default;
};

/// A bound of a metric, which a configuration has to keep to win.
struct constraint {
  std::string metric{};   ///< its name
  double bound = 0;       ///< in the metric's unit; times in nanoseconds
  bool at_least = false;  ///< else at most

  /// True if all is equal.
  friend bool operator==(const constraint&, const constraint&) = default;
};

/// The goal of a search. The winner is the best by the first objective among the configurations
/// that keep all constraints; of those that are tied there, the best by the next one, and so on.
/// Without objectives it is the least time.
///
/// The goal is a part of a result: that of one goal is never returned for another.
struct tuning_goal {
  std::vector<objective> objectives{};    ///< the most important first, no metric twice
  std::vector<constraint> constraints{};  ///< all have to be kept

  /// True for the default: the least time, whatever happens to all else.
  bool is_time() const noexcept;

  /// True if all is equal, in the same order.
  friend bool operator==(const tuning_goal&, const tuning_goal&) = default;
};

/// The least value of a metric.
inline objective minimise(std::string metric) { return {std::move(metric), false}; }
/// The greatest value of a metric.
inline objective maximise(std::string metric) { return {std::move(metric), true}; }
/// No more of a metric than this.
inline constraint at_most(std::string metric, double bound) {
  return {std::move(metric), bound, false};
}
/// No less of a metric than this.
inline constraint at_least(std::string metric, double bound) {
  return {std::move(metric), bound, true};
}

/// Returns the goal of a text, as LIBTUNE_OBJECTIVE takes it: objectives and constraints with
/// commas between them, "max gflops, min energy, power <= 100, time <= 85 us". A bound of a time
/// may have a unit (ns, us, ms, s). Empty if the text is anything else, or names a metric twice as
/// objective.
std::optional<tuning_goal> goal_from_text(std::string_view text);

/// Returns a goal in the words that goal_from_text reads: "min time" for the default.
std::string to_string(const tuning_goal& goal);

/// Returns a figure of a trial by its name: one of its metrics, else a statistic of its samples in
/// nanoseconds: "time" (the median), "mean", "min", "spread", or a percentile ("p99"). NaN if it
/// has none of this name.
double metric_value(const trial& of, std::string_view name);

/// A metric that follows from the rest of a trial: from its configuration, samples, and metrics,
/// among these the computed ones before it.
///
///   {.name = "bytes_per_joule",
///    .compute = [](const tune::trial& t) { return 1e6 / tune::metric_value(t, "energy"); },
///    .unit = "B/J", .finalists = true}
///
/// A function that throws makes the metric unknown (NaN) and the exception's text a part of the
/// trial's reason; the search goes on.
struct computed_metric {
  std::string name{};                             ///< as set_metric takes it
  std::function<double(const trial&)> compute{};  ///< the value for a trial
  std::string unit{};                             ///< "GB/s"; empty for counts and ratios
  /// True if it needs what is measured of the finalists alone. Otherwise it is computed anew for
  /// each sample, as if that were the only one, where the search compares configurations by it.
  bool finalists = false;
};

/// A configuration of the last comparison, which a probe may run as often as it needs to.
struct finalist {
  const trial& result;  ///< its trial so far
  /// Runs it so many times, one after the other, and returns the times: one for each run, the mean
  /// of several where the timer is coarse, or of all where it times itself. Empty if it has failed.
  std::function<std::vector<run_time>(int runs)> run;
  /// Makes the same runs without timing them, so that nothing comes between them. False if it has
  /// failed.
  std::function<bool(int runs)> repeat;
  /// Adds a value to its trial (set_metric).
  std::function<void(metric)> add;
};

/// Watches configurations in the process that compiles and runs them, and may add values to their
/// trials: what an observer, which only hears, cannot do where a child process tunes. Called by the
/// thread of the search; by several threads at once if an application tunes on several. What it
/// throws becomes a part of the trial's reason, and the search goes on.
class probe {
 public:
  probe() = default;
  virtual ~probe() = default;
  probe(const probe&) = delete;
  probe& operator=(const probe&) = delete;

  /// The author's function is about to be called for a configuration: to compile its programs, or
  /// with those that helpers have compiled. Called again for each program more.
  virtual void before_compile(const trial&) {}
  /// The configuration can be run: its programs are compiled and its memory is allocated.
  virtual void after_compile(trial&) {}
  /// So many timed runs are about to be made, one after the other; the device is idle.
  virtual void before_runs(const trial&, int /*runs*/) {}
  /// They have ended, and took these times. Other configurations run in between.
  virtual void after_runs(trial&, std::span<const run_time>) {}
  /// All finalists, the best by what is known so far first: for what takes too long to be measured
  /// of every configuration. Called while nothing else uses the device.
  virtual void compare(std::span<const finalist>) {}
  /// The metrics that only compare() adds. A search for one of them compares the others by time.
  virtual std::vector<std::string> finalist_metrics() const { return {}; }
};

/// The sources of the metrics of a search: an author's, given to tuning_session::tune, and an
/// application's, in its tuning_options. The author's come first.
///
/// A child process that tunes has the author's, because it calls the author's function. Of an
/// application's it has those that a static object has registered (registered_metrics); the others,
/// which cannot be sent, are used where the search runs in the process of the application, and
/// there computed metrics are added to what a child has measured, for the output alone.
struct metric_sources {
  std::vector<computed_metric> computed{};       ///< in the order in which they are computed
  std::vector<std::shared_ptr<probe>> probes{};  ///< called in this order

  /// True if there are none.
  bool empty() const noexcept { return computed.empty() && probes.empty(); }
};

/// Registers sources for every search of this program, and of its children that tune. Make one a
/// static object, so that it is there in a child too.
class registered_metrics {
 public:
  /// @throws argument_error if a name is taken
  explicit registered_metrics(metric_sources sources);
};

namespace detail {

/// Returns the registered sources, in the order of registration.
metric_sources registered_sources();

/// Returns the name under which results of a goal are stored: the function's own for the default,
/// else with the goal behind "..", as an identifier: "multiply.autotune..min_energy.power_le_100".
/// @throws argument_error if the goal names what is no metric
std::string name_with_goal(const std::string& function, const tuning_goal& goal);
/// Returns the function's own name, and the goal, of the name of stored results.
std::pair<std::string, tuning_goal> split_name(std::string_view stored);

/// Returns a number over zero, the less the better, that grows with a minimised value and falls
/// with a maximised one, in proportion where the value is over zero. NaN for NaN.
double cost_of(const objective& of, double value) noexcept;

/// Returns the constraint that a trial breaks, or the lack of a value, in words; empty if it keeps
/// all. @param known_only  passes over metrics that have no value
std::optional<std::string> why_unfit(const tuning_goal& goal, const trial& of, bool known_only);

}  // namespace detail

/// Returns the places of the configurations that no other one beats: none is at least as good by
/// every objective and better by one. In the order of the first objective.
/// @param goal            its objectives count, its constraints do not
/// @param configurations  their number
/// @param value           the value of the i-th one by a metric; NaN: it does not compete
std::vector<std::size_t> pareto_front(
    const tuning_goal& goal, std::size_t configurations,
    const std::function<double(std::size_t, const std::string&)>& value);
/// The same of trials; those without a time do not compete.
std::vector<std::size_t> pareto_front(const tuning_goal& goal, std::span<const trial> trials);

}  // namespace tune
