// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/device.hpp"
#include "libtune/kernel/compile_scope.hpp"
#include "libtune/measure/measure.hpp"
#include "libtune/search/space/search_space.hpp"
#include "libtune/tune/engine/prior_knowledge.hpp"
#include "libtune/tune/engine/step_hooks.hpp"
#include "libtune/tune/options.hpp"
#include "libtune/tune/search_problem.hpp"
#include "libtune/tune/trial.hpp"

namespace tune {

/// One configuration on its way from a number to times. A failure becomes an outcome with a reason
/// and ends the attempt; nothing is thrown. The steps are called in their order, by one thread;
/// those that use the device, by one that has its device_lease.
class trial_attempt {
 public:
  /// The stage of an attempt.
  enum class stage : std::uint8_t {
    waiting,  ///< its programs are not all there: see wanted
    ready,    ///< it can be run
    over      ///< it has an outcome
  };

  /// Everything outlives the attempt.
  trial_attempt(const search_problem& problem, std::size_t index, const device& device,
                const measure_settings& settings, const wall_clock& now,
                const step_hooks& hooks = no_hooks());

  /// Ends the attempt if there is a reason not to try it: limits of the device, a known compile
  /// failure, or the denylist. @param known  outlives the attempt
  void admit(const known_failures& known);

  /// Calls the author's function; its programs are compiled on the spot.
  void generate();
  /// The same with prebuilt programs; if one is missing the attempt waits for it. A configuration
  /// that asks for another program each time is generated on the spot.
  void generate_prebuilt();
  /// True if generate_prebuilt met a program that is missing and has not been added since.
  bool has_wanted() const noexcept { return wanted_.has_value(); }
  const wanted_program& wanted() const { return *wanted_; }
  void add_program(std::string digest, prebuilt_program made);
  bool has_programs() const noexcept { return !prebuilt_.empty(); }
  /// Releases its prebuilt programs. If it is generated again, they are compiled on the spot.
  void forget_programs();

  /// Runs it once, and has its result checked.
  void try_out();
  /// Runs it once, for one whose result has been checked before.
  void warm_up();
  /// Runs it until the device, which has idled, is steady.
  void warm_up_device();
  /// Takes so many samples, each of as many runs as the resolution of the timer requires. Returns
  /// none if it failed.
  /// @param allowed  the relative spread that the timer may add to them
  std::vector<run_time> sample(int count, double allowed = 0.01);
  /// Times whole runs (measure::sample_whole), beside an application in slices of its device's
  /// time. Returns none if it failed.
  std::vector<run_time> sample_whole(int runs, bool busy);
  /// Makes so many runs without timing them, one directly after the other.
  void repeat(int runs);
  /// Takes samples as the settings say, of this configuration alone.
  void measure_alone();
  /// Ends the attempt with this outcome.
  void refuse(outcome why, std::string reason);
  /// Ends the attempt with the outcome invalid_time.
  void refuse_times();

  /// Releases its memory on the device; it can be generated again.
  void release();
  /// True if it holds a measure, which may keep memory on the device.
  bool is_live() const noexcept { return static_cast<bool>(prepared_); }

  bool over() const noexcept { return stage_ == stage::over; }
  stage at() const noexcept { return stage_; }
  std::size_t index() const noexcept { return result_.index; }
  /// Returns for each parameter of the space the index of its candidate.
  std::vector<std::size_t> choice() const { return problem_.space.choice(result_.index); }
  const trial& result() const noexcept { return result_; }
  trial& result() noexcept { return result_; }
  /// True if the device or the host ran out of memory: it may work once other configurations have
  /// been released.
  bool ran_out_of_memory() const noexcept { return ran_out_of_memory_; }
  /// True if it was the host: other threads and processes may have released memory since.
  bool ran_out_of_host_memory() const noexcept {
    return ran_out_of_memory_ && result_.outcome == outcome::out_of_memory;
  }
  /// Resets the attempt, to try once more.
  void retry();

 private:
  static const step_hooks& no_hooks();

  template <class Step>
  bool attempt(outcome device_failed, Step&& step);
  template <class Step>
  bool announced(step_kind kind, std::uint64_t launches, Step&& step);
  bool set_device();
  void remember(const std::string& configuration, const known_failures& known);
  void fail(outcome why, std::string reason);
  void generate_with(const prebuilt_programs* prebuilt);
  std::vector<run_time> take(int count, int runs);
  std::vector<run_time> take_in_slices(int count, int runs);
  bool take_slice(int count, int runs, std::vector<run_time>& times);
  int runs_in_slice(int most) const;
  bool is_too_long();
  void note_generated();
  void note_that_process_lives();
  void look_for_progress(int found);
  void add_figures();

  const search_problem& problem_;
  const tune::device& device_;
  const measure_settings& settings_;
  const wall_clock& now_;
  const step_hooks& hooks_;
  const known_failures* known_ = nullptr;
  trial result_;
  stage stage_ = stage::waiting;
  bool ran_out_of_memory_ = false;
  prebuilt_programs prebuilt_;
  std::optional<wanted_program> wanted_;
  int found_ = 0;                   // prebuilt programs, when it was last generated
  bool on_the_spot_ = false;        // it takes no prebuilt programs any more
  std::vector<nd_range> launches_;  // as it may be launched, if that has been declared
  measure prepared_{nullptr};
  std::vector<program> programs_;    // that it compiled; while it is live
  std::optional<run_time> one_run_;  // about the time of a run
  bool runs_are_long_ = false;       // longer than the application beside allows
};

/// Tries one configuration, alone: limits, generate, warm-up, check, samples. It runs with the
/// device lease. Returns a failure as an outcome with a reason. A known failure is not repeated:
/// the trial has its outcome and reason.
/// @param wait  the longest wait for the device lease
/// @throws tuning_stopped_error if the tuning is stopped meanwhile, and nothing else
trial run_trial(const search_problem& problem, std::size_t index, const device& device,
                const measure_settings& settings, const wall_clock& now,
                const known_failures& known = {}, std::chrono::milliseconds wait = default_wait);

}  // namespace tune
