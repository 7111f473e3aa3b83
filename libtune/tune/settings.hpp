// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "libtune/store/database/match.hpp"
#include "libtune/tune/options.hpp"

namespace tune {

/// The options, resolved from those given, the environment and the defaults at one moment.
struct tuning_settings {
  std::string database;  ///< a path; empty if there is nowhere to keep one
  /// A path on the network in whose place that one is used, and which is only read; else empty.
  std::string shared_database{};
  std::vector<std::string> system_databases{};  ///< paths, in order
  std::string missed{};  ///< the file for keys without a result; empty if they are not noted
  match_mode match = match_mode::exact;
  tuning_mode mode = tuning_mode::tune;
  bool mode_of_process = false;  ///< the mode is that of the environment, not of the call
  tuning_budget budget{};
  std::chrono::milliseconds wait{default_wait};  ///< from zero to a year
};

/// @throws environment_error if a variable that counts holds what cannot be read
tuning_settings resolve_settings(const tuning_options& options);

/// Returns the options of a search: those given, with wait, budget and isolation resolved.
/// @throws environment_error
tuning_options search_options(const tuning_options& given, const tuning_settings& settings);

/// Returns the longest wait for another thread or process, from zero to a year.
/// @throws environment_error
std::chrono::milliseconds resolve_wait(const tuning_options& options,
                                       std::chrono::milliseconds by_default = default_wait);

/// Returns where searches are to run. @throws environment_error
isolation_mode resolve_isolation(const tuning_options& options);

/// Returns the floor of the watchdog, from a millisecond to a year. @throws environment_error
std::chrono::milliseconds resolve_trial_time(const watchdog_settings& settings);

/// Returns libtune/tuning.db in the user's cache folder (XDG_CACHE_HOME, else HOME/.cache); empty
/// if neither variable names a folder. It may be on the network (place_database).
std::string default_database_path();

/// Returns the word of a mode, as LIBTUNE_MODE takes it.
const char* tuning_mode_name(tuning_mode mode) noexcept;
/// Returns the word of a match mode, as LIBTUNE_MATCH takes it.
const char* match_mode_name(match_mode match) noexcept;

}  // namespace tune
