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

#include "libtune/search/strategy/strategy.hpp"
#include "libtune/tune/engine/compile_pipeline.hpp"
#include "libtune/tune/engine/prior_knowledge.hpp"
#include "libtune/tune/engine/search_race.hpp"
#include "libtune/tune/engine/search_timing.hpp"
#include "libtune/tune/engine/step_hooks.hpp"
#include "libtune/tune/engine/trial_judge.hpp"
#include "libtune/tune/engine/trial_list.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/options.hpp"
#include "libtune/tune/tuning_budget.hpp"

namespace tune {

/// The parts that a search works with. All must outlive the search.
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
  spent_budget spent{};  ///< the part used before the start
  const trial_judge& judge = trial_judge::by_time();
};

/// One search: configurations flow from the strategy through the compile_pipeline into a race.
/// While the device measures, helpers compile the next ones. Only the thread of the search uses the
/// device and calls the author's function.
class search_run {
 public:
  explicit search_run(const search_setting& setting);
  search_run(const search_run&) = delete;
  search_run& operator=(const search_run&) = delete;

  /// Begins with the trials of an unfinished search. The device may have changed since, so the best
  /// of them are measured again, as many as may still win.
  /// @param goes_on  true if that search has just been lost: the best are measured again at the
  ///                 end, so that a search whose processes are lost repeatedly makes progress
  void resume(const std::vector<trial>& earlier, bool goes_on = false);

  /// Ends the search as soon as all seeds have been tried and one of them has a time. The strategy
  /// proposes them first; nothing else is tried meanwhile. To be called before run.
  void stop_after(std::span<const std::size_t> seeds) { seeds_.assign(seeds.begin(), seeds.end()); }
  /// True if the seeds have ended the search.
  bool has_stopped_after_seeds() const noexcept { return stopped_after_seeds_; }

  /// Tries configurations until the given number of trials, resumed ones included, the end of the
  /// proposals, or the end of the budget; then compares the best. Only a configuration that was
  /// measured here can win, unless the budget's time was too short to measure any. Without a
  /// working configuration an early warning gives the first reason.
  /// @param most  the number of trials
  /// @throws device_fault_error if the device's context is lost for good, so nothing more can be
  ///         measured
  void run(strategy& strategy, std::size_t most, const known_failures& known);

  /// Tries the configurations that were skipped as known compile failures, except those on the
  /// denylist.
  void retry_remembered();

  const std::vector<trial>& trials() const noexcept { return trials_.all(); }
  /// Returns the winner's index in the trials; empty if none has a time.
  std::optional<std::size_t> best() { return race_.best(); }
  search_end end() const noexcept { return end_; }
  /// Returns the uncertainties that remain, for users.
  std::vector<std::string> doubts() const { return race_.doubts(); }
  const search_times& times() const noexcept { return timing_.times(); }

 private:
  using attempt_pointer = attempt_runner::attempt_pointer;

  void begin(std::size_t index, const known_failures& known);
  void measure(const std::vector<std::size_t>& configurations);
  void decide();
  void check_reference();
  void tell_taken(strategy& strategy) const;
  std::optional<run_time> best_now() const;
  bool is_over() const;
  std::optional<search_end> why_end() const;
  bool waits_for_seeds() const;
  void look_at_seeds();
  void propose(strategy& strategy, std::size_t most, const known_failures& known);
  void take_one();
  void enter(attempt_pointer attempt);

  void finish(trial done);
  void report(const trial& item, trial_stage stage) const;
  void warn_of_failures(const trial& last) const;
  void tell_progress();
  void log_progress();
  void account(std::chrono::nanoseconds search_times::*part);

  search_setting setting_;
  search_clock clock_;
  search_timing timing_;
  search_race race_;  // before the attempts of the pipeline, which use it
  compile_pipeline pipeline_;
  strategy* strategy_ = nullptr;  // receives the results
  trial_list trials_;
  std::unordered_set<std::size_t> tried_;  // proposed, or resumed
  // The number of resumed trials, which come first.
  std::size_t taken_over_ = 0;
  // The costs of trials made here, if costs differ from times.
  std::unordered_map<std::size_t, run_time> costs_;
  std::vector<std::size_t> seeds_;  // trials after which the search may end; empty: none
  bool stopped_after_seeds_ = false;
  std::optional<std::size_t> reference_;  // the configuration whose bits others must have
  std::size_t planned_ = 0;
  std::size_t begun_ = 0;
  // Time of the next log line, since the start.
  std::chrono::nanoseconds next_line_{std::chrono::seconds(2)};
  search_end end_ = search_end::complete;
};

}  // namespace tune
