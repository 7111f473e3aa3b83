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
#include <utility>
#include <vector>

#include "libtune/device/context.hpp"
#include "libtune/measure/measure.hpp"
#include "libtune/tune/engine/compile_pipeline.hpp"
#include "libtune/tune/engine/prior_knowledge.hpp"
#include "libtune/tune/engine/step_hooks.hpp"
#include "libtune/tune/engine/trial_attempt.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/options.hpp"
#include "libtune/tune/search_problem.hpp"
#include "libtune/tune/settings.hpp"
#include "libtune/tune/trial.hpp"

namespace tune::detail {

/// Returns the configurations that a search tries instead of the proposals of the strategy; empty:
/// the strategy decides.
using shortlist_function = std::function<std::vector<std::size_t>(const search_problem&)>;

/// The parameters of a session.
struct session_setup {
  tune::context context;
  tuning_subject subject{};
  tuning_options options{};
  std::optional<tuning_goal> goal_of_author{};  ///< unless it is the library's
  wall_clock now = std::chrono::steady_clock::now;
  prior_reader read_prior{};  ///< reads the trials of earlier searches; may be empty
  /// Called at the start of each search. If no configuration on the list can be measured, the whole
  /// space is searched. Its exceptions leave the session's tune.
  shortlist_function shortlist{};
  step_hooks hooks{};
  bool only_listed = false;  ///< true: only the list is tried, even if none of it works
  std::string peaks{};  ///< the path of the database that keeps the device's peaks; empty: none
};

}  // namespace tune::detail

namespace tune {

/// Tries the proposals of the strategy, calls the observers, and returns the best trial: that with
/// the least score, of two equal ones the earlier configuration of the space.
///
/// It resumes the unfinished search of the prior knowledge, if the kernel is still the same:
/// resumed trials count against the limits of the strategy. Known compile failures are skipped
/// unless no other configuration can be measured: prior knowledge may shorten a search, but not
/// make it fail. Denied configurations are never run.
/// @param service     compiles programs meanwhile
/// @param read_prior  the prior knowledge, read once; may be empty
/// @param shortlist   if not empty, only these are tried, in this order, with any strategy
/// @throws empty_space_error if there is nothing to try, tuning_failed_error if no configuration
///         could be measured, device_fault_error if the device's context was lost, argument_error
///         for an unknown strategy name
trial run_search(const search_problem& problem, const tuning_subject& subject, const device& device,
                 const tuning_options& options,
                 std::span<const std::shared_ptr<observer>> observers, const wall_clock& now,
                 compile_service& service, const std::function<prior_knowledge()>& read_prior = {},
                 std::vector<std::size_t> shortlist = {}, const step_hooks& hooks = {});

}  // namespace tune

namespace tune::detail {

class search_course;

/// A session and its searches so far.
struct session_state : session_setup {
  explicit session_state(session_setup setup) : session_setup(std::move(setup)) {}

  int searches = 0;                      ///< number of started searches
  std::optional<run_time> best_score{};  ///< the score of the last completed search
  search_course* course = nullptr;       ///< decides its searches; null: no course
};

/// One search of a session.
struct session_search {
  const search_problem& problem;
  search_decision decided{};
  int stage = 0;                         ///< its number in the session, from 0
  std::vector<std::size_t> shortlist{};  ///< if not empty, only these, in this order
  bool ends_after_seeds = true;          ///< false: it continues after good seeds
  loaded_programs* programs = nullptr;   ///< kept between searches; null: not kept
  /// True if the device has just worked, for the previous search.
  bool is_warm = false;
};

/// Runs a search: adds the probes, reads prior trials, compiles and measures. Returns the number of
/// the best configuration, and stores its score in the session. @throws as tuning_session::tune
std::size_t run(session_state& session, session_search search);

}  // namespace tune::detail
