// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "libtune/measure/measure.hpp"
#include "libtune/measure/race/race.hpp"
#include "libtune/search/strategy/strategy.hpp"
#include "libtune/tune/engine/attempt_runner.hpp"
#include "libtune/tune/engine/compile_pipeline.hpp"
#include "libtune/tune/engine/prior_knowledge.hpp"
#include "libtune/tune/engine/prior_trials.hpp"
#include "libtune/tune/engine/search_finals.hpp"
#include "libtune/tune/engine/search_timing.hpp"
#include "libtune/tune/engine/step_hooks.hpp"
#include "libtune/tune/engine/trial_attempt.hpp"
#include "libtune/tune/engine/trial_judge.hpp"
#include "libtune/tune/engine/trial_list.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/options.hpp"
#include "libtune/tune/tuning_budget.hpp"

namespace tune {

/// The parts that a search works with. All of them outlive the search.
struct search_setting {
  const search_problem& problem;
  const tuning_subject& subject;
  const tune::device& device;
  const tuning_options& options;
  std::span<const std::shared_ptr<observer>> observers;
  const wall_clock& now;
  compile_service& service;
  bool learns = true;  ///< the strategy chooses by the results so far
  step_hooks hooks{};
  spent_budget spent{};  ///< before it starts
  const trial_judge& judge = trial_judge::by_time();
};

/// One search: configurations flow from the strategy through the compile_pipeline into a race.
/// While the device measures, helpers compile what comes next. All that touches the device or the
/// author's function happens on the thread of the search.
class search_run {
 public:
  explicit search_run(const search_setting& setting);
  search_run(const search_run&) = delete;
  search_run& operator=(const search_run&) = delete;

  /// Begins with the trials of an unfinished search. The device may have changed since, so the best
  /// of them are measured again, as many as may still win.
  /// @param goes_on  true if they were made just now: then the best are measured again at the end,
  ///                 so that a search whose processes are lost again and again makes progress
  void resume(const std::vector<trial>& earlier, bool goes_on = false);

  /// Ends the search as soon as all of these have been tried and one of them has a time. They are
  /// what the strategy proposes first; nothing else is tried meanwhile. To be called before run.
  void stop_after(std::span<const std::size_t> seeds) { seeds_.assign(seeds.begin(), seeds.end()); }
  /// True if they have ended it.
  bool has_stopped_after_seeds() const noexcept { return stopped_after_seeds_; }

  /// Tries configurations until there are so many trials, resumed ones included, or no more
  /// proposals, or the budget is used up; then compares the best. Only a configuration that was
  /// measured here can win, unless the budget's time did not suffice to measure any.
  /// @param most  the number of trials
  /// @throws device_fault_error if the device's context is lost for good: nothing more can be
  ///         measured
  void run(strategy& strategy, std::size_t most, const known_failures& known);

  /// Tries the configurations that were skipped because they did not compile before; not those on
  /// the denylist.
  void retry_remembered();

  const std::vector<trial>& trials() const noexcept { return trials_.all(); }
  /// Returns the place of the winner among the trials; empty if none has a time.
  std::optional<std::size_t> best();
  search_end end() const noexcept { return end_; }
  /// Returns the uncertainties that remain, for users.
  std::vector<std::string> doubts() const;
  const search_times& times() const noexcept { return timing_.times(); }

 private:
  using attempt_pointer = attempt_runner::attempt_pointer;

  void begin(std::size_t index, const known_failures& known);
  void measure_references();
  void measure_again(const std::vector<std::size_t>& configurations);
  void find_level();
  void tell_taken(strategy& strategy) const;
  std::optional<run_time> best_now() const;
  std::optional<run_time> cost_of(const trial& item) const;
  run_time cost_in_race(std::size_t index, run_time time) const;
  bool is_over() const;
  bool waits_for_seeds() const;
  void look_at_seeds();
  void propose(strategy& strategy, std::size_t most, const known_failures& known);
  void take_one();
  void drain();

  void enter(attempt_pointer attempt);
  std::vector<run_time> measure_for(const race_task& task, trial_attempt& attempt);
  bool has_to_be_checked(const race_task& task, const std::vector<run_time>& times) const;
  bool is_winner_right();

  void perform(const race_task& task);
  void judge(std::size_t index);
  void compare_best();
  void play();
  void compare_finalists();
  std::vector<search_finals::rival> choose_finalists(std::size_t most);
  bool run_again(trial_attempt& of, const std::function<void()>& step);
  void race_anew();

  trial result_of(std::size_t index);
  void finish(trial done);
  void report(const trial& item, trial_stage stage) const;
  void tell_progress();
  void account(std::chrono::nanoseconds search_times::*part);

  search_setting setting_;
  search_clock clock_;
  search_timing timing_;
  attempt_runner runner_;  // its settings outlive the attempts
  compile_pipeline pipeline_;
  std::optional<race> race_;  // never empty
  search_finals finals_;
  strategy* strategy_ = nullptr;            // receives the results
  attempt_runner::attempts racing_;         // those in the race
  std::unordered_set<std::size_t> judged_;  // of them, those whose trials are up to date
  trial_list trials_;
  std::unordered_set<std::size_t> tried_;  // proposed, or resumed
  std::size_t taken_over_ = 0;             // the number of resumed trials, the first ones
  earlier_times earlier_;                  // of the resumed trials, later of the race before
  double level_ = 1;                       // of the device when those were measured
  bool knows_level_ = true;                // true if the change since then is known
  std::optional<run_time> first_time_;     // the least measured here, until that is known
  std::size_t not_measured_ = 0;           // earlier ones that there was no time for
  double sentinel_level_ = 1;    // ratio of the sentinel's latest samples to its score in the race
  bool is_spoilt_ = false;       // true if a late failure may have eliminated others
  bool in_final_round_ = false;  // true while the race compares the finalists
  std::unordered_map<std::size_t, run_time> costs_;  // of those made here, if not their times
  std::optional<std::size_t> chosen_;  // the winner, where the race alone does not choose it
  std::vector<std::size_t> seeds_;     // that are good enough together; empty: none are
  bool stopped_after_seeds_ = false;
  std::size_t planned_ = 0;
  std::size_t begun_ = 0;
  search_end end_ = search_end::complete;
};

}  // namespace tune
