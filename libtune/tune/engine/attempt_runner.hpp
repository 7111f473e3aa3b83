// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <unordered_set>

#include "libtune/measure/measure.hpp"
#include "libtune/tune/engine/prior_knowledge.hpp"
#include "libtune/tune/engine/search_timing.hpp"
#include "libtune/tune/engine/trial_attempt.hpp"
#include "libtune/tune/options.hpp"

namespace tune {

class compile_pipeline;
struct search_setting;

/// Generates, runs and checks the configurations of a search, with the device lease. A
/// configuration that runs out of memory is tried once more if others that are kept for the race
/// have released theirs. Used by the thread of the search.
class attempt_runner {
 public:
  using attempt_pointer = std::unique_ptr<trial_attempt>;
  using attempts = std::map<std::size_t, attempt_pointer>;  ///< by configuration

  /// All references must outlive this. @param kept  attempts that may hold memory beside the
  /// running one
  attempt_runner(const search_setting& setting, search_timing& timing,
                 const compile_pipeline& pipeline, const attempts& kept);

  /// Empty failures, for configurations that are tried regardless of earlier failures.
  static const known_failures& nothing_known();
  /// Returns a new attempt, which is over if there is a reason not to try it.
  attempt_pointer make(std::size_t index, const known_failures& known) const;

  // The functions that return bool return true if the attempt is live afterwards.
  bool generate(trial_attempt& attempt);
  /// Like generate, for an attempt that has been live before.
  bool generate_again(trial_attempt& attempt);
  /// Generates the attempt if necessary, runs it once, and checks its result if every result is
  /// checked. @param is_slow  see trial_attempt::try_out
  bool try_out(trial_attempt& attempt, const trial_attempt::slow_test& is_slow);
  /// True if only results of finalists are checked, and this configuration's has not been checked
  /// yet.
  bool has_to_be_checked(std::size_t index) const {
    return check_ == result_check::finalists && !checked_.contains(index);
  }
  void check(trial_attempt& attempt);

  /// Runs a step of an attempt, and repeats it if it ran out of memory that others can release.
  void with_room(trial_attempt& attempt, const std::function<void()>& step);
  /// True if it ran out of memory, and more may be free now.
  bool may_retry(const trial_attempt& attempt);
  /// @throws detail::memory_reclaimed if another thread wants the memory of the search
  void yield_memory();
  /// Releases the memory of all kept attempts. Returns false if none held any.
  bool release_all();
  /// Runs a step that uses the device, with the device lease.
  void measuring(const std::function<void()>& step);

 private:
  void first_run(trial_attempt& attempt, const trial_attempt::slow_test& is_slow);

  const search_setting& setting_;
  search_timing& timing_;
  const compile_pipeline& pipeline_;
  const attempts& kept_;
  result_check check_;
  measure_settings measure_;
  std::unordered_set<std::size_t> checked_;  // configurations with a right result
  bool warmed_up_;                           // the device has worked lately
};

}  // namespace tune
