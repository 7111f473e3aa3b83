// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "libtune/measure/race/race.hpp"
#include "libtune/tune/engine/attempt_runner.hpp"
#include "libtune/tune/engine/prior_trials.hpp"
#include "libtune/tune/engine/search_finals.hpp"
#include "libtune/tune/engine/trial_list.hpp"
#include "libtune/tune/trial.hpp"

namespace tune {

/// Finds the winner of a search: it performs the tasks of a race on the attempts that arrive, makes
/// trials of them, and decides at the end. The best of an unfinished search compete after they have
/// been measured again. Used by the thread of the search.
class search_race {
 public:
  using attempt_pointer = attempt_runner::attempt_pointer;

  /// Calls of the search around it.
  struct host {
    std::function<bool()> is_over;  ///< the budget's time is used up
    std::function<bool()> has_reached_target;
    std::function<std::optional<run_time>()> best_now;  ///< the least cost so far
    /// Called if time was too short to compare all.
    std::function<void()> end_late;
    /// Tries configurations; working ones arrive.
    std::function<void(const std::vector<std::size_t>&)> measure;
    /// Takes a trial, or replaces the trial of the same configuration.
    std::function<void(trial)> finish;
  };

  /// All references must outlive this. @param trials  those passed to finish, and resumed ones
  search_race(const search_setting& setting, search_timing& timing,
              const compile_pipeline& pipeline, const trial_list& trials, host around);

  /// See search_run::resume.
  void resume(const std::vector<trial>& earlier, bool goes_on);
  /// True if the change of the device since the resumed trials is known.
  bool knows_level() const noexcept { return knows_level_; }
  /// Measures the best of the resumed trials again, until the change is known. This comes first, so
  /// that new trials are stored with the level of the device, and a small budget is spent on the
  /// best.
  void measure_references();
  /// Returns the estimated present cost of a resumed trial.
  std::optional<run_time> estimate(std::size_t index) const { return earlier_.estimate(index); }
  /// Returns the least cost measured here while that change is unknown.
  std::optional<run_time> first_time() const noexcept { return first_time_; }

  attempt_runner& runner() noexcept { return runner_; }
  /// Returns the test of first runs that may drop a configuration at once; empty if these are not
  /// to be timed, because a run is too short to gain by it.
  trial_attempt::slow_test slow_test();
  /// Adds a working configuration to the race.
  void arrive(attempt_pointer attempt);
  /// Begins a race without configurations.
  void clear();
  /// Compares the best after the last arrival.
  void decide();

  /// See search_run.
  std::optional<std::size_t> best();
  std::vector<std::string> doubts() const;

 private:
  /// The relative spread that a coarse timer may add to the samples of finalists.
  static constexpr double final_tick_error = 0.005;

  void measure_again(const std::vector<std::size_t>& configurations);
  void find_level();
  run_time cost_in_race(std::size_t index, run_time time) const;
  std::vector<run_time> measure_for(const race_task& task, trial_attempt& attempt);
  bool has_to_be_checked(const race_task& task, const std::vector<run_time>& times) const;
  bool is_winner_right();
  void perform(const race_task& task);
  void settle(std::size_t changed);
  void judge(std::size_t index);
  trial result_of(std::size_t index);
  void play();
  void compare_finalists();
  std::vector<search_finals::rival> choose_finalists(std::size_t most);
  bool run_again(trial_attempt& of, const std::function<void()>& step);
  void race_anew();
  bool has_compared(std::size_t index) const { return finals_ && finals_->has_compared(index); }

  const search_setting& setting_;
  const trial_list& trials_;
  host host_;
  attempt_runner runner_;                   // its settings outlive the attempts
  std::optional<race> race_;                // always set
  std::optional<search_finals> finals_;     // empty if the race alone decides
  attempt_runner::attempts racing_;         // attempts in the race
  std::unordered_set<std::size_t> judged_;  // the part of racing_ with up-to-date trials
  earlier_times earlier_;  // times of the resumed trials, later of the previous race
  double level_ = 1;       // the level of the device at the time of earlier_
  bool knows_level_ = true;
  std::optional<run_time> first_time_;
  std::size_t not_measured_ = 0;  // earlier ones skipped for lack of time
  double sentinel_level_ = 1;     // ratio of the sentinel's latest samples to its score in the race
  bool is_spoilt_ = false;        // a late failure may have eliminated others
  bool in_final_round_ = false;   // the race compares the finalists
  std::optional<std::size_t> chosen_;  // the winner, unless the race alone chooses it
};

}  // namespace tune
