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
#include "libtune/device/command_queue.hpp"
#include "libtune/measure/device_settings.hpp"
#include "libtune/measure/timing/samples.hpp"
#include "libtune/measure/timing/settings.hpp"

namespace tune {

/// Judges a configuration by runs that are made for it: prepares each run and checks its results.
/// Unlike a function that is called after one run, it can fill outputs before the run, or compare
/// runs with each other. Used by one thread at a time.
class run_check {
 public:
  run_check() = default;
  virtual ~run_check() = default;
  run_check(const run_check&) = delete;
  run_check& operator=(const run_check&) = delete;

  /// The number of runs to make, at least one.
  virtual int runs() const noexcept = 0;
  /// Called before each, counted from 0, and before the reset function of the measure.
  virtual void prepare(int run) = 0;
  /// Called when it has ended. Describes what is wrong, which ends the check; empty if it is right.
  virtual std::optional<std::string> judge(int run) = 0;
};

namespace detail {
class measurable;
}

/// The useful work of one run, whatever a configuration makes of it; zero is not declared.
struct declared_work {
  double flops = 0;  ///< floating-point operations
  double bytes = 0;  ///< bytes read and written
};

/// The time at which the reset function of a measure is called.
enum class reset_before : std::uint8_t {
  batch,  ///< before each batch of runs, which follow each other
  run     ///< before each single run
};

/// A configuration that is ready to be run and timed: the author's function returns one for each
/// configuration while tuning. It owns what it runs; it can be moved, not copied, because an
/// operation cannot be copied. Used by one thread at a time.
///
///   if (registers > 64) return tune::measure::skipped("it needs too many registers");
///   return tune::make_measure(queue, std::move(operation))
///       .check([=] { return compare(expected, result); });
///
/// nullptr is a measure that skips, too; a lambda that returns it beside a measure has to name its
/// type: [&](const tuning& t) -> tune::measure { ... }.
class measure {
 public:
  /// Describes how a result is wrong; empty if it is right.
  using check_function = std::function<std::optional<std::string>()>;

  /// Skips the configuration.
  // NOLINTNEXTLINE(google-explicit-constructor): reads as "return nullptr"
  measure(std::nullptr_t);
  /// Skips the configuration for a reason: "it needs 70 registers for each work item".
  static measure skipped(std::string reason = unexplained);
  /// Takes over an implementation of make_measure; null skips the configuration.
  explicit measure(std::unique_ptr<detail::measurable> impl);
  /// Leaves the other without anything to run.
  measure(measure&&) noexcept;
  /// Releases what this one ran, and leaves the other without anything to run.
  measure& operator=(measure&&) noexcept;
  ~measure();

  /// True if there is anything to run.
  explicit operator bool() const noexcept { return impl_ != nullptr; }

  /// Attaches a function that is called once the configuration has run for the first time.
  /// @throws argument_error if this is a skipped configuration
  measure& check(check_function function) &;
  /// The same for a temporary, which it moves into the result.
  measure check(check_function function) &&;
  /// Attaches a check that makes runs of its own to judge, before that function is called.
  /// @throws argument_error if this is a skipped configuration
  measure& check_runs(std::shared_ptr<run_check> judge) &;
  /// The same for a temporary, which it moves into the result.
  measure check_runs(std::shared_ptr<run_check> judge) &&;
  /// Attaches a function that puts back inputs which the kernel overwrites; its time is not part of
  /// the samples. It is called before the first run and before each batch of runs, which is enough
  /// where a second run on the first one's output takes as long, or before each single run, each of
  /// which is then waited for, so that nothing of a run overlaps the reset.
  /// @throws argument_error if this is a skipped configuration
  measure& reset(std::function<void()> function, reset_before before = reset_before::batch) &;
  /// The same for a temporary, which it moves into the result.
  measure reset(std::function<void()> function, reset_before before = reset_before::batch) &&;

  /// Declares the work of a run, from which trials have the metrics "flops" and "gflops" (GFLOP/s),
  /// "bytes" and "gbs" (GB/s): .work({.bytes = 2.0 * size * sizeof(float)}).
  /// @throws argument_error if this is a skipped configuration, or a number is negative or not
  /// finite
  measure& work(declared_work of_a_run) &;
  /// The same for a temporary, which it moves into the result.
  measure work(declared_work of_a_run) &&;
  /// The work that has been declared.
  const declared_work& work() const noexcept { return work_; }

  /// Makes the hardware of the device a part of the configuration: clocks and a power limit that it
  /// runs with. They are set before its runs and restored after the search, by the parent process
  /// if this one is killed, and by the next search if both are. Where they cannot be set the
  /// configuration is skipped, with the reason.
  measure& at(const device_settings& settings) &;
  /// The same for a temporary, which it moves into the result.
  measure at(const device_settings& settings) &&;

  /// The reason for skipping it, if the author gave one; meaningless if it is not skipped.
  const std::string& why_skipped() const noexcept { return why_skipped_; }

  // The rest is for the tuner, and throws argument_error if this is a skipped configuration, and
  // otherwise whatever the operation or the device throws.

  /// The settings that it runs with.
  const device_settings& settings() const noexcept { return settings_; }
  /// Calls the reset function and waits for what it has enqueued. run and sample begin with this
  /// unless it has just been done; on its own it keeps the reset out of a caller's timing.
  void prepare();
  /// Makes one run without timing it, and waits for its end.
  void run();
  /// Runs it once, or as often as the run_check asks for, and checks the result. Empty if the
  /// result is right or no check is attached.
  /// @param between  called between the parts of it, when the device has done one
  std::optional<std::string> run_checked(const std::function<void()>& between = {});
  /// Sets the state of the cache when a timed run starts; warm until this is called. No effect on a
  /// function that times itself. @throws device_error (out_of_memory) if there
  /// is no memory for the buffer that is written before each run
  void cache(cache_state state);
  /// The tick of the times that sample returns; zero if they are exact, or the tick is unknown.
  run_time timer_resolution() const;
  /// Times iterations samples, each the mean of several runs, all one after the other. For an
  /// operation on a queue: the device time of a run is the sum over its kernels, and its fills and
  /// copies on the device, each from its own start to its own end, so that gaps between these, or
  /// between runs, do not count; nor do copies between device and host.
  /// For a function that times itself: one sample, the mean over all that it returns.
  /// @param iterations  the number of samples, at least 1
  /// @param runs        of each sample, at least 1
  /// @throws argument_error if a count is not positive, or the operation enqueued nothing
  std::vector<run_time> sample(int iterations, int runs = 1);
  /// Times whole runs, with the gaps between their commands. One that times itself is sampled.
  /// @param runs  at least 1
  /// @param busy  false: each from a moment when the queue is empty, so that the time that the host
  ///              takes to launch it counts, as for a caller that waits for one. True: behind a
  ///              long fill, where there is a device that takes long enough for it, so that only
  ///              the device's time counts, which varies much less from run to run
  /// @throws argument_error if the number is not positive; what sample throws
  std::vector<run_time> sample_whole(int runs, bool busy = false);
  /// Makes runs without timing them, so that nothing comes between them, and waits for their end.
  /// A reset function is called once before, or before each run, as it asks for.
  /// @param runs  at least 1 @throws argument_error if it is not positive
  void repeat(int runs);

 private:
  static constexpr const char* unexplained = "the function that generates it returned nothing";

  void require_operation() const;
  std::vector<run_time> time_runs(int runs);

  std::unique_ptr<detail::measurable> impl_;
  std::string why_skipped_ = unexplained;
  check_function check_;
  std::shared_ptr<run_check> judge_;
  std::function<void()> reset_;
  reset_before reset_before_ = reset_before::batch;
  declared_work work_{};
  bool prepared_ = false;
  device_settings settings_{};
};

/// Measures an operation that enqueues its commands on this very queue when it is called.
/// @param queue       has the commands timed
/// @param operation   enqueues one run
/// @param neighbours  enqueued around each run on the same queue, and left out of its time
measure make_measure(tuning_command_queue queue, std::function<void()> operation,
                     run_neighbours neighbours = {});

/// Like make_measure() above, for an operation that can be moved only. It lives as long as the
/// measure.
template <std::move_constructible Operation>
requires std::invocable<Operation&> measure make_measure(tuning_command_queue queue,
                                                         Operation operation) {
  auto kept = std::make_shared<Operation>(std::move(operation));
  return make_measure(std::move(queue), std::function<void()>([kept] { (*kept)(); }));
}

/// Measures by a function that times itself: it makes the given number of iterations, waits for
/// their end, and returns the seconds that one of them took.
measure make_measure(std::function<double(int iterations)> seconds_per_iteration);

/// Returns the wall-clock time. Tests pass one of their own.
using wall_clock = std::function<std::chrono::steady_clock::time_point()>;

/// Measures a configuration that has had its warm-up run: one timed run to plan the number of
/// iterations, which is no sample, and then the samples, in batches; each sample is the mean of as
/// many runs as the timer makes necessary.
/// @throws argument_error if the settings contradict themselves, and what measure::sample throws
samples take_samples(measure& of, const measure_settings& settings = {},
                     const wall_clock& now = std::chrono::steady_clock::now);

/// The result of a warm_up.
struct warm_up_report {
  bool converged;    ///< false if the time was up first
  std::size_t runs;  ///< that were made
};

/// Runs a configuration until the device has warmed up: once before the first configuration of a
/// search is measured, with one that is sure to work, and again after the device has idled for
/// long.
/// @throws argument_error if the settings make no sense, and what measure::sample throws
warm_up_report warm_up(measure& by, const warm_up_settings& settings = {},
                       const wall_clock& now = std::chrono::steady_clock::now);

}  // namespace tune
