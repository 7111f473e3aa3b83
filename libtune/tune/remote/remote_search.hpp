// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "libtune/tune/remote/lost_child.hpp"
#include "libtune/tune/remote/remote_tuning.hpp"
#include "libtune/tune/remote/search_memory.hpp"
#include "libtune/tune/remote/tuner_child.hpp"
#include "libtune/tune/remote/watchdog.hpp"

namespace tune::detail {

/// One call of tune_remotely: children one after the other, until one has brought the result. Used
/// by one thread, once.
class remote_search {
 public:
  /// Both outlive it.
  remote_search(const tuner_program& program, const remote_task& task);

  tuned_values run();

 private:
  using clock = tuner_child::clock;

  void start_child();
  void start_another();
  /// Until there is a result or the child is lost.
  void converse();
  void lose(const child_process::end& end);
  void lose_by_nonsense(const std::string& what);
  void lose_by_overtime();
  bool has_paused();
  void blame(const search_step& step, verdict said);
  void blame_inside(const search_step& step, verdict said);
  [[noreturn]] void give_up(const std::string& last_words) const;
  void require_going_on() const;

  void hear(tuner_message message);
  // What a child may say.
  void take(const recall_question& asked);
  void take(started_news news);
  void take(taken_over_news news);
  void take(trial_news news);
  void take(const progress_news& news);
  void take(const finished_news& news);
  void take(step_begin begun);
  void take(step_end ended);
  void take(compile_begin begun);
  void take(compile_end ended);
  void take(process_spoilt spoilt);
  void take(inner_begin begun);
  void take(const inner_search& begun);
  void take(inner_end ended);
  void take(const inner_result& made);
  void take(const wait_begin& begun);
  void take(wait_news news);
  void take(wait_end ended);
  void take(const log_line& line);
  void take(tuning_result made);
  void take(const tuning_failure& failure);
  template <class Other>
  void take(const Other& nonsense);

  void tell(search_memory::story story);
  void acknowledge() { child_->send(acknowledgement{}); }
  search_memory& current();

  const tuner_program& program_;
  const remote_task& task_;
  tuning_subject subject_;
  tuning_request request_;
  std::optional<tuner_child> child_;
  watchdog watchdog_;
  std::vector<std::unique_ptr<search_memory>> searches_;  // in the order in which they begin
  std::size_t asked_ = 0;                                 // of them, by the present child
  /// An autotune function that is called inside, and its search.
  struct inner_tuning {
    nested_tuning what{};
    std::optional<search_identity> search{};
  };
  std::vector<inner_tuning> inner_;  // the outermost first
  std::vector<lost_inside> lost_inside_;
  std::optional<tuned_values> result_;
  // By the depth of the tuning and the configuration: children that others may have ended.
  std::map<std::pair<std::size_t, std::size_t>, int> ended_;
  clock::time_point looked_;  // when this process was last seen to run
  std::optional<std::uint64_t> memory_kills_;
  int losses_in_a_row_ = 0;  // without a trial between them
  std::set<std::string> said_;
};

}  // namespace tune::detail
