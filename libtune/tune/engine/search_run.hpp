// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "libtune/measure/race/race.hpp"
#include "libtune/measure/timing/measurement.hpp"
#include "libtune/search/strategy/strategy.hpp"
#include "libtune/tune/engine/compile_pipeline.hpp"
#include "libtune/tune/engine/prior_knowledge.hpp"
#include "libtune/tune/engine/prior_trials.hpp"
#include "libtune/tune/engine/step_hooks.hpp"
#include "libtune/tune/engine/trial_attempt.hpp"
#include "libtune/tune/engine/trial_list.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/options.hpp"
#include "libtune/tune/tuning_budget.hpp"

namespace tune {

/// A search's budget against the clock. Time counts only from when there is something that works,
/// so that a search never ends with nothing for want of time.
class search_clock {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  /// @param spent  of its time, before it starts
  search_clock(const tuning_budget& budget, const wall_clock& now,
               std::chrono::nanoseconds spent = std::chrono::nanoseconds(0))
      : budget_(budget), now_(now), start_(now() - spent) {}

  time_point now() const { return now_(); }
  std::chrono::nanoseconds elapsed() const { return now_() - start_; }
  std::optional<std::chrono::nanoseconds> left() const;

  /// Why no more configurations are to be begun, if so. A tenth of the time is kept for comparing
  /// the best.
  std::optional<search_end> why_end(std::size_t begun, std::optional<run_time> best) const;
  /// Whether even that is used up.
  bool is_over(std::optional<run_time> best) const;
  /// When to look at the clock again at the latest, if there is a limit of time.
  time_point next_look() const;

 private:
  tuning_budget budget_;
  const wall_clock& now_;
  time_point start_;
};

/// What a search works with. All of it outlives the search.
struct search_setting {
  const search_problem& problem;
  const tuning_subject& subject;
  const tune::device& device;
  const tuning_options& options;
  std::span<const std::shared_ptr<observer>> observers;
  const wall_clock& now;
  compile_service& service;
  bool learns = true;  ///< whether the strategy chooses by what it has been told
  step_hooks hooks{};
  spent_budget spent{};  ///< before it starts
};

/// One search: configurations flow from the strategy through the compile_pipeline into a race.
/// While the device measures, helpers compile what comes next. All that touches the device or the
/// author's function happens on the thread of the search.
class search_run {
 public:
  explicit search_run(const search_setting& setting);

  /// Begins with the trials of an unfinished search. The device may have changed since, so the best
  /// of them are measured again, as many as may still win.
  /// @param goes_on  whether they were made just now: then that is left to the end, so that a
  /// search
  ///                 whose processes are lost again and again gets on
  void resume(const std::vector<trial>& earlier, bool goes_on = false);

  /// Until there are so many trials, those taken over counted, or no more proposals, or the budget
  /// is used up; and then compares the best. Only what was measured here can win, unless the
  /// budget's time did not reach for anything.
  /// @throws device_fault_error if the device's context is lost for good: nothing more can be
  ///         measured
  void run(strategy& strategy, std::size_t most, const known_failures& known);

  /// Tries what was not tried because it was known not to compile. What is denied is not tried.
  void retry_remembered();

  const std::vector<trial>& trials() const noexcept { return trials_.all(); }
  /// The place of the winner among them; empty if none has a time.
  std::optional<std::size_t> best();
  search_end end() const noexcept { return end_; }
  /// What could not be settled, for people.
  std::vector<std::string> doubts() const;
  const search_times& times() const noexcept { return times_; }

 private:
  using attempt_pointer = std::unique_ptr<trial_attempt>;

  void begin(std::size_t index, const known_failures& known);
  void measure_references();
  void measure_again(const std::vector<std::size_t>& configurations);
  void find_level();
  void tell_taken(strategy& strategy) const;
  std::optional<run_time> best_now() const;
  bool is_over() const;
  void propose(strategy& strategy, std::size_t most, const known_failures& known);
  void take_one();
  void drain();

  void enter(attempt_pointer attempt);
  bool generate(trial_attempt& attempt);
  bool generate_again(trial_attempt& attempt);
  bool try_out(trial_attempt& attempt);
  std::vector<run_time> measure_for(const race_task& task, trial_attempt& attempt);
  void with_room(trial_attempt& attempt, const std::function<void()>& step);
  void first_run(trial_attempt& attempt);
  bool has_to_be_checked(const race_task& task, const std::vector<run_time>& times) const;
  void check(trial_attempt& attempt);
  bool is_winner_right();
  double rank_of(std::size_t index) const;

  void perform(const race_task& task);
  void judge(std::size_t index);
  void compare_best();
  void play();
  void race_anew();
  bool release_all();
  bool may_retry(const trial_attempt& attempt);

  trial result_of(std::size_t index);
  void finish(trial done);
  void tell_progress();
  /// A step that uses the device, which nobody else measures on meanwhile.
  void measuring(const std::function<void()>& step);
  std::chrono::milliseconds longest_turn_wait() const;
  void account(std::chrono::nanoseconds& part);

  search_setting setting_;
  search_clock clock_;
  compile_pipeline pipeline_;
  std::optional<race> race_;                       // never empty
  strategy* strategy_ = nullptr;                   // that is told of results
  std::map<std::size_t, attempt_pointer> racing_;  // by configuration: those in the race
  std::unordered_set<std::size_t> judged_;         // of them, those whose trials are up to date
  std::unordered_set<std::size_t> checked_;  // by configuration: those found right, of finalists
  trial_list trials_;
  std::unordered_set<std::size_t> tried_;  // proposed, or taken over
  std::size_t taken_over_ = 0;             // of them, the first ones
  earlier_times earlier_;                  // those, later those of the race before
  double level_ = 1;                       // of the device when these were measured
  bool knows_level_ = true;                // whether it is known how it has changed since
  std::optional<run_time> first_time_;     // that was measured here, until that is known
  std::size_t not_measured_ = 0;           // of the earlier ones, for want of time
  double sentinel_level_ = 1;  // how much longer the race's sentinel took when it was last visited
  bool is_spoilt_ = false;     // whether what failed later may have cost others their place
  bool plays_off_ = false;     // whether the race compares the finalists
  bool warmed_up_ = false;     // whether the device has worked lately
  std::size_t planned_ = 0;
  std::size_t begun_ = 0;
  search_end end_ = search_end::complete;
  search_times times_;
  search_clock::time_point accounted_;  // until when times_ counts
};

}  // namespace tune
