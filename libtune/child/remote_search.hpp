// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "libtune/child/inner_tunings.hpp"
#include "libtune/child/remote_tuning.hpp"
#include "libtune/child/tuner_child.hpp"
#include "libtune/child/watchdog.hpp"
#include "libtune/device/device_memory.hpp"
#include "libtune/device/memory_quota.hpp"
#include "libtune/tune/engine/search_memory.hpp"

namespace tune::detail {

/// One call of tune_remotely: one child after the other, until one returns the result. Used by one
/// thread, once.
class remote_search {
 public:
  /// The program and the task must outlive it. @param request  for each child
  remote_search(const tuner_program& program, const remote_task& task, tuning_request request);
  /// Ends the child, and restores the device settings that it has left changed.
  ~remote_search();
  remote_search(const remote_search&) = delete;
  remote_search& operator=(const remote_search&) = delete;

  tuned_values run();

 private:
  using clock = tuner_child::clock;

  void start_child();
  bool is_asked(tuner_child& child);
  void start_another();
  void wait_before_another() const;
  /// Returns when a result is there or the child is lost.
  void converse();
  void lose(const child_process::end& end);
  void lose_by_invalid_message(const std::string& what);
  void lose_by_overtime();
  bool has_paused();
  void give_memory_back();
  void blame(const search_step& step, classification found);
  void blame_inside(const search_step& step, classification found);
  [[noreturn]] void give_up(const std::string& last_words) const;
  void require_not_stopped() const;

  void receive(tuner_message message);
  // Handlers of the messages that a child may send.
  void take(const prior_question& asked);
  void take(tuning_event event);
  void take(step_event event);
  void take(process_spoilt spoilt);
  void take(const log_line& line);
  void take(tuning_result made);
  void take(const tuning_failure& failure);
  template <class Other>
  void take(const Other& unexpected);
  // Handlers of the step events.
  void follow(step_begin begun);
  void follow(step_end ended);
  void follow(compile_begin begun);
  void follow(compile_end ended);
  void follow(inner_begin begun);
  void follow(const inner_search& begun);
  void follow(inner_end ended);
  void follow(const inner_result& made);
  void follow(const wait_begin& begun);
  void follow(waiting_event event);
  void follow(wait_end ended);

  /// Joins an event to the events of the search, and passes the result to the observers.
  void pass_on(tuning_event event);
  search_memory& current();

  const tuner_program& program_;
  const remote_task& task_;
  tuning_subject subject_;
  tuning_request request_;
  std::unique_ptr<tuner_child> child_;
  watchdog watchdog_;
  std::vector<std::unique_ptr<search_memory>> searches_;  // in the order of their start
  std::size_t asked_ = 0;                                 // started by the present child
  inner_tunings inner_;
  std::optional<tuned_values> result_;
  // Ends of children that may have an outside cause, by the depth of the tuning and the
  // configuration.
  std::map<std::pair<std::size_t, std::size_t>, int> ended_;
  clock::time_point looked_;  // the last time at which this process was known to run
  std::optional<std::uint64_t> memory_kills_;
  int losses_in_a_row_ = 0;  // losses without a trial between them
  const int most_losses_;    // the greatest allowed number of losses in a row
  int given_back_ = 0;       // memory returns without a trial in between
  std::set<std::string> logged_;
  std::atomic<bool> has_child_{false};
  std::shared_ptr<reclaim_gate> gate_ = std::make_shared<reclaim_gate>();
  memory_reclaimer reclaimer_;  // destroyed first
};

}  // namespace tune::detail
