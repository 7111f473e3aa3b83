// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "libtune/store/database/match.hpp"
#include "libtune/tune/options.hpp"

namespace tune {

/// The options, resolved once from the given options, the environment and the defaults. The
/// environment overrides given options, unless a command line gives them
/// (tuning_options::given_by).
struct tuning_settings {
  std::string database{};  ///< a path; empty without a place for one
  /// A path on the network that database replaces, and which is only read; else empty.
  std::string shared_database{};
  std::vector<std::string> system_databases{};  ///< paths, in order
  std::string shared_store{};  ///< the URL of a store that machines share; empty for none
  bool push_results = false;   ///< new results are pushed to it
  std::string report{};        ///< the path of a page about searches; empty for none
  std::string lock{};          ///< the path of a lock file, the only source of results; else empty
  std::string missed{};        ///< the file for keys without a result; empty: not noted
  match_mode match = match_mode::exact;
  tuning_mode mode = tuning_mode::tune;
  bool mode_of_process = false;  ///< the environment gave the mode, not the call
  /// The given options, with all options of a search resolved (search_options).
  tuning_options search{};

  std::chrono::milliseconds wait() const { return search.wait.value_or(default_wait); }
};

/// @throws environment_error if a used variable has an invalid value
tuning_settings resolve_settings(const tuning_options& options);

/// Returns the settings as options that the environment does not override, for calls whose settings
/// were resolved earlier.
tuning_options as_options(const tuning_settings& settings);

/// Returns the options of a search: the given ones, overridden by the environment. Wait (from zero
/// to a year) and isolation are always set; strategy, limits, checks, measuring, goal and the floor
/// of the watchdog (from a millisecond to a year) only if a source gives them.
/// @param wait  the default
/// @throws environment_error if a used variable has an invalid value
tuning_options search_options(const tuning_options& given,
                              std::chrono::milliseconds wait = default_wait);

/// The options of a search and the sources of all that are not the library's.
struct search_decision {
  tuning_options options{};
  std::string sources{};  ///< "strategy local (author), budget 30 s (LIBTUNE_BUDGET)"
};

/// Returns the goal of an autotuner: from a command line, else from LIBTUNE_OBJECTIVE, else
/// the application's, else the author's. @throws environment_error
tuning_goal resolve_goal(const tuning_options& options, const tuning_goal& author);

/// Decides the options of a search.
/// @param resolved        by search_options
/// @param goal_of_author  from the autotuner, unless it is the library's
search_decision decide(const tuning_options& resolved, const search_defaults& author,
                       const std::optional<tuning_goal>& goal_of_author = std::nullopt);

/// Checks the strategy name of the options; the error lists the known names.
/// @throws environment_error, or argument_error
void require_strategy(const tuning_options& resolved);

/// Returns libtune/tuning.db in the user's cache folder (XDG_CACHE_HOME, else HOME/.cache); empty
/// if neither variable names a folder. It may be on the network (place_database).
std::string default_database_path();

/// Returns the word of a mode, as LIBTUNE_MODE takes it.
const char* tuning_mode_name(tuning_mode mode) noexcept;
/// Returns the word of a match mode, as LIBTUNE_MATCH takes it.
const char* match_mode_name(match_mode match) noexcept;

}  // namespace tune
