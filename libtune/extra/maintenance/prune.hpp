// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libtune/device/device_identity.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/store/database/record.hpp"
#include "libtune/store/database/stored_trial.hpp"

namespace tune {

/// Selects the rows to remove: those that match all given members.
struct prune_options {
  std::optional<std::string> function{};  ///< a function's name, for all its versions
  std::optional<int> version{};           ///< only this version
  std::optional<std::string> device{};    ///< a device's name
  /// Results tuned and searches started before this date (utc_date). A row without a date never
  /// matches.
  std::optional<std::string> before{};
  /// Only searches whose key has no result, and no results.
  bool orphans = false;
  /// Only counts the rows.
  bool dry_run = false;
};

/// The removed and the remaining rows of one function.
struct pruned_function {
  std::string name{};
  int version = 0;
  std::size_t results = 0;
  std::size_t searches = 0;
  std::size_t results_kept = 0;
  std::size_t searches_kept = 0;
  bool forgotten = false;  ///< its table was removed too, because it was empty
};

struct prune_report {
  std::size_t results = 0;
  std::size_t searches = 0;
  std::size_t functions = 0;  ///< the number of removed functions
  std::size_t results_kept = 0;
  std::size_t searches_kept = 0;
  std::vector<pruned_function> of{};  ///< the functions that lose rows

  /// True if more is removed than stays, of results or of searches.
  bool removes_most() const noexcept { return results > results_kept || searches > searches_kept; }
};

/// Converts a date in UTC to the form of columns, "2024-01-31T12:00:00Z". It may be "2024-01-31",
/// optionally followed by "T" or a blank and "12:00", "12:00:00" or either with a "Z".
/// @throws argument_error for any other text, or a day that does not exist
std::string utc_date(const std::string& text);

/// Removes results and searches with their trials, in one transaction. A function without further
/// data is removed if its name was given. Running programs continue to store results for it.
/// @throws argument_error if nothing is given, or a date is invalid; database_error if the file
///         cannot be opened, read or written
prune_report prune_database(const std::string& path, const prune_options& options);

// Stored trials that ended their process, or the device's context. The caller lists their outcomes.

/// An incident: one of these trials, with its key and device.
struct stored_incident {
  function_identity function{};
  std::string arguments{};            ///< of the key, for people
  std::string arguments_canonical{};  ///< equal for equal keys
  device_identity device{};           ///< its name, platform and driver; the rest is empty
  std::string device_canonical{};     ///< equal for devices that are equal in all properties
  search_identity search{};
  search_id in_search{};
  std::int64_t position = 0;  ///< of the trial in its search
  stored_trial trial{};
};

/// Returns true for incidents to select.
using incident_choice = std::function<bool(const stored_incident&)>;

/// Returns the tried trials of a database with one of these outcomes that `which` selects, the
/// earliest first. Empty if there is no file. @throws database_error
std::vector<stored_incident> list_incidents(const std::string& path,
                                            std::span<const std::string> outcomes,
                                            const incident_choice& which);

/// Removes the selected trials, in one transaction.
/// @returns the number of removed trials. @throws database_error
std::size_t forget_incidents(const std::string& path, std::span<const std::string> outcomes,
                             const incident_choice& which);

}  // namespace tune
