// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
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
#include "libtune/tune/trial.hpp"

namespace tune::detail {

/// Returns the configurations that a search tries in place of the proposals of the strategy; none:
/// the strategy decides.
using shortlist_function = std::function<std::vector<std::size_t>(const search_problem&)>;

/// All that a session starts from.
struct session_setup {
  tune::context context;
  tuning_subject subject{};
  tuning_options options{};
  std::optional<tuning_goal> goal_of_author{};  ///< unless it is the library's
  wall_clock now = std::chrono::steady_clock::now;
  prior_reader read_prior{};  ///< the trials of earlier searches; empty: there are none
  /// Asked at the start of each search. If no configuration on the list can be measured, the search
  /// is as if there were none. Its exceptions leave the session's tune.
  shortlist_function shortlist{};
  step_hooks hooks{};
  bool only_listed = false;  ///< true if nothing but the list is tried, even if none of it works
};

}  // namespace tune::detail

namespace tune {

/// Tries the proposals of the strategy, calls the observers, and returns the best trial: that of
/// the least score, the earlier configuration of the space where two are equal.
///
/// It resumes the unfinished search of the prior knowledge, if the kernel is still the same:
/// resumed trials count against the limits of the strategy. Known compile failures are skipped
/// unless no other configuration can be measured: prior knowledge may make a search shorter, not
/// make it fail. Denied configurations are never run.
/// @param service     compiles programs meanwhile
/// @param read_prior  the prior knowledge, read once; empty: there is none
/// @param shortlist   if not empty, only these are tried, in this order, whatever the strategy
/// @throws empty_space_error if there is nothing to try, tuning_failed_error if nothing could be
///         measured, device_fault_error if the device's context was lost, argument_error if the
///         options name no known strategy
trial run_search(const search_problem& problem, const tuning_subject& subject, const device& device,
                 const tuning_options& options,
                 std::span<const std::shared_ptr<observer>> observers, const wall_clock& now,
                 compile_service& service, const std::function<prior_knowledge()>& read_prior = {},
                 const std::vector<std::size_t>& shortlist = {}, const step_hooks& hooks = {});

}  // namespace tune
