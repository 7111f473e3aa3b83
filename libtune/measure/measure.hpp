// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libtune/base/cxx20.hpp"
#include "libtune/base/metric.hpp"
#include "libtune/device/command_queue.hpp"
#include "libtune/measure/timing/samples.hpp"
#include "libtune/measure/timing/settings.hpp"
#include "libtune/measure/work.hpp"

namespace tune {

/// Checks a configuration by runs of its own: prepares each run and checks its results. Unlike a
/// function that is called after one run, it can fill outputs before a run, or compare runs with
/// each other. Used by one thread at a time.
class run_check {
 public:
  run_check() = default;
  virtual ~run_check() = default;
  run_check(const run_check&) = delete;
  run_check& operator=(const run_check&) = delete;

  /// The number of runs to make, at least one.
  virtual int runs() const noexcept = 0;
  /// Called before each run, counted from 0, and before the reset function of the measure.
  virtual void prepare(int run) = 0;
  /// Called after each run. Returns an error text, which ends the check; empty if the result is
  /// right.
  virtual std::optional<std::string> judge(int run) = 0;
  /// True if the time of this run counts for the configuration. False for runs on other inputs than
  /// those that are timed.
  virtual bool is_timed(int /*run*/) const noexcept { return true; }
  /// Called after the last run, also if the check ends early: makes the inputs ready for timing.
  virtual void end() {}
  /// Asks for the figure bits_metric of later runs, if results have bits to compare.
  virtual void report_bits() {}
  /// Figures of the results that were found right, for the trial.
  virtual std::vector<metric> figures() const { return {}; }
};

/// Inputs that a configuration is timed with (measure::over).
struct timed_inputs {
  std::function<void()> prepare{};  ///< sets the inputs; not part of the time
  double weight = 1;                ///< the part of this time in the configuration's; positive
};

/// The metric with the digest of the results of a configuration: equal for equal bits.
inline constexpr const char* bits_metric = "bits";

/// The steps of a caller within a check (measure::run_checked); each may be empty.
struct check_steps {
  /// Called between runs, when the device has finished one.
  std::function<void()> between{};
  /// Makes a run, such as a timed one, in place of measure::run, where run_check::is_timed.
  std::function<void()> run{};
  /// Called after each right result of this kind. If it returns true, the check ends: further runs
  /// would only confirm it.
  std::function<bool()> is_enough{};
  /// True to ask for bits_metric (run_check::report_bits).
  bool reports_bits = false;
};

namespace detail {
class measurable;
}

/// Settings of a GPU's hardware for a configuration (measure::at). Zero leaves a setting unchanged:
/// include it among the candidates, so that a user without the right to set anything has a
/// configuration too.
struct device_settings {
  int graphics_clock_mhz = 0;  ///< of the compute units; locked
  int memory_clock_mhz = 0;    ///< of global memory; locked
  double power_limit_w = 0;    ///< upper limit of the power

  /// True if any setting is to be changed.
  explicit operator bool() const noexcept {
    return graphics_clock_mhz != 0 || memory_clock_mhz != 0 || power_limit_w != 0;
  }
  friend bool operator==(const device_settings&, const device_settings&) = default;
};

/// The time at which the reset function of a measure is called.
enum class reset_before : std::uint8_t {
  batch,  ///< before each batch of consecutive runs
  run     ///< before each single run
};

/// A configuration that is ready to be run and timed: while tuning, the author's function returns
/// one for each configuration. It owns the operation; it can be moved, not copied, because an
/// operation cannot be copied. Used by one thread at a time.
///
///   if (registers > 64) return tune::measure::skipped("it needs too many registers");
///   return tune::make_measure(queue, std::move(operation))
///       .check([=] { return compare(expected, result); });
///
/// nullptr also makes a measure that skips the configuration; a lambda with other returns beside it
/// has to name its type: [&](const tuning& t) -> tune::measure { ... }.
class measure {
 public:
  /// Returns a description of a wrong result; empty if it is right.
  using check_function = std::function<std::optional<std::string>()>;

  /// Skips the configuration.
  // NOLINTNEXTLINE(google-explicit-constructor): reads as "return nullptr"
  measure(std::nullptr_t);
  /// Skips the configuration for a reason: "it needs 70 registers for each work item".
  static measure skipped(std::string reason = unexplained);
  /// Takes over an implementation of make_measure; null skips the configuration.
  explicit measure(std::unique_ptr<detail::measurable> impl);
  /// Leaves the other measure without a configuration.
  measure(measure&&) noexcept;
  /// Releases this measure's configuration, and leaves the other without one.
  measure& operator=(measure&&) noexcept;
  ~measure();

  /// True if there is a configuration to run.
  explicit operator bool() const noexcept { return impl_ != nullptr; }

  /// Attaches a function that is called after the first run of the configuration.
  /// @throws argument_error if this is a skipped configuration
  measure& check(check_function function) &;
  /// The same for a temporary, which is moved into the result.
  measure check(check_function function) &&;
  /// Attaches a function that returns figures of right results for the trial, such as
  /// accuracy::metrics. It is called after the checks.
  /// @throws argument_error if this is a skipped configuration
  measure& report(std::function<std::vector<metric>()> figures) &;
  /// The same for a temporary, which is moved into the result.
  measure report(std::function<std::vector<metric>()> figures) &&;
  /// Attaches a check with its own runs, which precede the check() function.
  /// @throws argument_error if this is a skipped configuration
  measure& check_runs(std::shared_ptr<run_check> judge) &;
  /// The same for a temporary, which is moved into the result.
  measure check_runs(std::shared_ptr<run_check> judge) &&;
  /// Attaches a function that restores inputs which the kernel overwrites; its time is not part of
  /// the samples. It is called before the first run. After that, it is called before each batch of
  /// runs, which suffices if a run on the previous output takes as long, or before each single run;
  /// each run is then waited for, so that it does not overlap the reset.
  /// @throws argument_error if this is a skipped configuration
  measure& reset(std::function<void()> function, reset_before before = reset_before::batch) &;
  /// The same for a temporary, which is moved into the result.
  measure reset(std::function<void()> function, reset_before before = reset_before::batch) &&;

  /// Times the configuration with several inputs: each sample is the mean, by the weights, of the
  /// times with each. None: the inputs are as they are.
  /// @throws argument_error if this is a skipped configuration, a function is empty or a weight is
  /// not positive
  measure& over(std::vector<timed_inputs> all) &;
  /// The same for a temporary, which is moved into the result.
  measure over(std::vector<timed_inputs> all) &&;

  /// Declares the work of a run, for the metrics "flops" and "gflops" (GFLOP/s), "bytes" and "gbs"
  /// (GB/s) of trials: .work({.bytes = 2.0 * size * sizeof(float)}). Bytes are compared with the
  /// device's bandwidth, operations with the peak of the declared arithmetic (peaks_of).
  /// @throws argument_error if this is a skipped configuration, or a number is negative or not
  /// finite
  measure& work(declared_work of_a_run) &;
  /// The same for a temporary, which is moved into the result.
  measure work(declared_work of_a_run) &&;
  /// The declared work.
  const declared_work& work() const noexcept { return work_; }

  /// Makes settings of the device's hardware a part of the configuration: clocks and a power limit.
  /// They are set before its runs and restored after the search, by the parent process if this one
  /// is killed, and by the next search if both are. If they cannot be set, the configuration is
  /// skipped, with the reason.
  measure& at(const device_settings& settings) &;
  /// The same for a temporary, which is moved into the result.
  measure at(const device_settings& settings) &&;

  /// The author's reason for skipping, if given; meaningless if it is not skipped.
  const std::string& why_skipped() const noexcept { return why_skipped_; }

  // The rest is for the tuner. It throws argument_error for a skipped configuration, and otherwise
  // any error of the operation or the device.

  /// The settings of measure::at.
  const device_settings& settings() const noexcept { return settings_; }
  /// Calls the reset function and waits for the commands that it enqueued. run and sample begin
  /// with this unless it was just done; calling it separately keeps the reset out of a caller's
  /// timing.
  void prepare();
  /// Makes one run without timing it, and waits for its end.
  void run();
  /// Runs it once, or as often as the run_check requires, and checks the result. Empty if the
  /// result is right or there is no check.
  std::optional<std::string> run_checked(const check_steps& steps = {});
  /// The figures of the last check, which found the results right: those of the run_check, and
  /// those of report().
  std::vector<metric> figures() const;
  /// Sets the state of the cache at the start of a timed run; warm until this is called. No effect
  /// on a function that times itself. @throws device_error (out_of_memory) if there is no memory
  /// for the buffer that is written before each run
  void cache(cache_state state);
  /// The tick of the times of sample; zero if they are exact, or the tick is unknown.
  run_time timer_resolution() const;
  /// Takes samples, each the mean of several runs, all one after the other. For an operation on a
  /// queue: the device time of a run is the sum over its kernels, fills and copies on the device,
  /// each from its own start to its own end; gaps between these or between runs, and copies between
  /// device and host, do not count. For a function that times itself: one sample, the mean of its
  /// results.
  /// @param iterations  the number of samples, at least 1
  /// @param runs        the runs in each sample, at least 1
  /// @throws argument_error if a count is not positive, or the operation enqueued nothing
  std::vector<run_time> sample(int iterations, int runs = 1);
  /// Times whole runs, including the gaps between their commands. A function that times itself is
  /// called as in sample.
  /// @param runs  at least 1
  /// @param busy  false: each run starts with an empty queue, so that the host's launch time
  /// counts, as for a caller that waits for each run. True: the runs follow a long fill, if the
  /// device takes long enough for it, so that only the device's time counts, which varies much less
  /// from run to run
  /// @throws argument_error if the number is not positive; errors of sample
  std::vector<run_time> sample_whole(int runs, bool busy = false);
  /// Makes runs without timing them and without interruption, and waits for their end. A reset
  /// function is called once before, or before each run, according to its setting.
  /// @param runs  at least 1 @throws argument_error if it is not positive
  void repeat(int runs);

 private:
  static constexpr const char* unexplained = "the function that generates it returned nothing";

  void require_operation() const;
  std::vector<run_time> time_runs(int runs);
  std::vector<run_time> over_inputs(const std::function<std::vector<run_time>()>& time);

  std::unique_ptr<detail::measurable> impl_;
  std::string why_skipped_ = unexplained;
  check_function check_;
  std::function<std::vector<metric>()> report_;
  std::shared_ptr<run_check> judge_;
  std::function<void()> reset_;
  reset_before reset_before_ = reset_before::batch;
  std::vector<timed_inputs> inputs_;  // empty: as they are
  declared_work work_{};
  bool prepared_ = false;
  device_settings settings_{};
};

/// Measures an operation that enqueues its commands on this queue when it is called.
/// @param queue       times the commands
/// @param operation   enqueues one run
/// @param neighbours  enqueued around each run on the same queue; not included in its time
measure make_measure(tuning_command_queue queue, std::function<void()> operation,
                     run_neighbours neighbours = {});

/// Measures an operation that can only be moved, otherwise like the previous function. It lives as
/// long as the measure.
template <std::move_constructible Operation>
requires std::invocable<Operation&> measure make_measure(tuning_command_queue queue,
                                                         Operation operation) {
  auto kept = std::make_shared<Operation>(std::move(operation));
  return make_measure(std::move(queue), std::function<void()>([kept] { (*kept)(); }));
}

/// Measures by a function that times itself: it runs the given number of iterations, waits for
/// their end, and returns the seconds of one iteration.
measure make_measure(std::function<double(int iterations)> seconds_per_iteration);

/// Returns the wall-clock time. Tests pass their own function.
using wall_clock = std::function<std::chrono::steady_clock::time_point()>;

/// Measures a configuration after its warm-up run: one timed run, which is not a sample, to plan
/// the number of iterations, and then the samples, in batches; each sample is the mean of as many
/// runs as the timer's resolution requires.
/// @throws argument_error if the settings contradict each other; errors of measure::sample
samples take_samples(measure& of, const measure_settings& settings = {},
                     const wall_clock& now = std::chrono::steady_clock::now);

/// The result of warm_up().
struct warm_up_report {
  bool converged;    ///< false if the time limit was reached
  std::size_t runs;  ///< the number of runs
};

/// Runs a configuration until the device has warmed up: once before the first configuration of a
/// search is measured, with one that is sure to work, and again after a long idle time.
/// @throws argument_error if the settings are invalid; errors of measure::sample
warm_up_report warm_up(measure& by, const warm_up_settings& settings = {},
                       const wall_clock& now = std::chrono::steady_clock::now);

}  // namespace tune
