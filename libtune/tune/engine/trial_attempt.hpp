// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/device/device.hpp"
#include "libtune/kernel/compile_scope.hpp"
#include "libtune/measure/measure.hpp"
#include "libtune/search/space/search_space.hpp"
#include "libtune/tune/engine/awaited_programs.hpp"
#include "libtune/tune/engine/prior_knowledge.hpp"
#include "libtune/tune/engine/step_hooks.hpp"
#include "libtune/tune/options.hpp"
#include "libtune/tune/search_problem.hpp"
#include "libtune/tune/trial.hpp"

namespace tune {

/// One configuration on its way from a number to times. A failure becomes an outcome with a reason
/// and ends the attempt; nothing is thrown. One thread calls the steps in their order, with the
/// device_lease for steps that use the device.
class trial_attempt {
 public:
  /// The stage of an attempt.
  enum class stage : std::uint8_t {
    waiting,  ///< a program is missing: see wanted
    ready,    ///< it can be run
    over      ///< it has an outcome
  };

  /// All references must outlive the attempt.
  trial_attempt(const search_problem& problem, std::size_t index, const device& device,
                const measure_settings& settings, const wall_clock& now,
                const step_hooks& hooks = no_hooks());

  /// Ends the attempt if there is a reason not to try it: limits of the device, a known compile
  /// failure, or the denylist. @param known  must outlive the attempt
  void admit(const known_failures& known);

  /// Calls the author's function; its programs are compiled on the spot.
  void generate() { generate_with({}); }
  using program_finder = std::function<std::optional<prebuilt_program>(const wanted_program&)>;
  /// Calls the author's function with prebuilt programs; if one is missing the attempt waits for
  /// it. A configuration that requests another program each time is generated on the spot.
  /// @param find  looks for a program before it counts as missing; may be empty
  void generate_prebuilt(const program_finder& find = {});
  /// True if generate_prebuilt met a missing program that has not been added since.
  bool has_wanted() const noexcept { return awaited_.has_wanted(); }
  const wanted_program& wanted() const { return awaited_.wanted(); }
  void add_program(std::string digest, prebuilt_program made) {
    awaited_.add(std::move(digest), std::move(made));
  }
  bool has_programs() const noexcept { return !awaited_.ready().empty(); }
  /// Releases its prebuilt programs. Another generation compiles them on the spot.
  void forget_programs() { awaited_.give_up(); }

  /// True for the time of a run that is certainly too long for the best.
  using slow_test = std::function<bool(run_time)>;

  /// Runs it once, and has its result checked. @param is_slow  if given, the runs are timed
  /// (first_times), and a slow one with a right result is the last one
  void try_out(const slow_test& is_slow = {});
  /// Runs it once, if its result has been checked before or is not to be. @param is_slow  as above
  void warm_up(const slow_test& is_slow = {});
  /// The times of these runs that count as samples, because they are so long that neither caches
  /// nor the loading of the program matter, or because one was slow.
  const std::vector<run_time>& first_times() const noexcept { return first_times_; }
  /// Runs it until the device, which has idled, is steady.
  void warm_up_device();
  /// Takes the given number of samples, each of as many runs as the resolution of the timer
  /// requires. Returns an empty list after a failure.
  /// @param allowed  the relative spread that the timer may add to them
  std::vector<run_time> sample(int count, double allowed = 0.01);
  /// Times whole runs (measure::sample_whole), beside an application in slices of its device's
  /// time. Returns an empty list after a failure.
  std::vector<run_time> sample_whole(int runs, bool busy);
  /// Makes the given number of runs without timing, in direct sequence.
  void repeat(int runs);
  /// Takes samples by the settings, of this configuration alone.
  void measure_alone();
  /// Ends the attempt with this outcome.
  void refuse(outcome why, std::string reason) { fail(why, std::move(reason)); }
  /// Ends the attempt with the outcome invalid_time.
  void refuse_times() { fail(outcome::invalid_time, "a time is NaN, infinite, zero or negative"); }

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
  /// True if the device or the host ran out of memory: it may work after other configurations have
  /// been released.
  bool ran_out_of_memory() const noexcept { return ran_out_of_memory_; }
  /// True if the host ran out of memory: other threads and processes may have released some since.
  bool ran_out_of_host_memory() const noexcept {
    return ran_out_of_memory_ && result_.outcome == outcome::out_of_memory;
  }
  /// Resets the attempt for another try.
  void retry();

 private:
  static const step_hooks& no_hooks();

  bool attempt(outcome device_failed, const std::function<void()>& step);
  bool announced(step_kind kind, std::uint64_t launches, const std::function<void()>& step);
  bool set_device();
  void remember(const std::string& configuration, const known_failures& known);
  void fail(outcome why, std::string reason);
  void generate_with(compile_scope::rules rules);
  std::vector<run_time> take(int count, int runs);
  std::vector<run_time> take_step(int count, const std::function<std::vector<run_time>()>& runs);
  void first_runs(const slow_test& is_slow, const std::function<void(const check_steps&)>& make);
  std::vector<run_time> take_in_slices(int count, int runs);
  bool take_slice(int count, int runs, std::vector<run_time>& times);
  int runs_in_slice(int most) const;
  bool is_too_long();
  void note_generated();
  void note_checked();
  void note_that_process_lives();
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
  awaited_programs awaited_;
  std::vector<nd_range> launches_;  // the declared launches, if any
  measure prepared_{nullptr};
  std::vector<program> programs_;    // compiled programs; while it is live
  std::optional<run_time> one_run_;  // the approximate time of a run
  std::vector<run_time> first_times_;
  bool runs_are_long_ = false;  // longer than the application allows
};

}  // namespace tune
