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

/// Selects the rows to remove: those that fit everything that is given here.
struct prune_options {
  std::optional<std::string> function{};  ///< a function's name, all its versions
  std::optional<int> version{};           ///< this version alone
  std::optional<std::string> device{};    ///< a device's name
  /// Results tuned and searches started before this date (utc_date). A row without a date is
  /// not before any.
  std::optional<std::string> before{};
  /// Only searches for whose key there is no result, and no result at all.
  bool orphans = false;
  /// Counts and changes nothing.
  bool dry_run = false;
};

/// The rows of one function that go, and those that stay.
struct pruned_function {
  std::string name{};
  int version = 0;
  std::size_t results = 0;
  std::size_t searches = 0;
  std::size_t results_kept = 0;
  std::size_t searches_kept = 0;
  bool forgotten = false;  ///< its table went too, because nothing was left of it
};

struct prune_report {
  std::size_t results = 0;
  std::size_t searches = 0;
  std::size_t functions = 0;  ///< that were forgotten
  std::size_t results_kept = 0;
  std::size_t searches_kept = 0;
  std::vector<pruned_function> of{};  ///< the functions that lose rows

  /// True if more goes than stays, of results or of searches.
  bool removes_most() const noexcept { return results > results_kept || searches > searches_kept; }
};

/// A date in UTC, as the columns have it, "2024-01-31T12:00:00Z", from "2024-01-31", followed or
/// not by "T" or a blank and "12:00", "12:00:00" or either with a "Z".
/// @throws argument_error if it is none, or no day of the calendar
std::string utc_date(const std::string& text);

/// Removes results and searches with their trials, in one transaction. A function of which nothing
/// is left is forgotten if its name was given. Programs that run go on storing results of it.
/// @throws argument_error if nothing is given, or a date that is none; database_error if the file
///         cannot be opened, read or written
prune_report prune_database(const std::string& path, const prune_options& options);

// Trials that ended the process that they ran in, or the device's context, as a database has them.
// The caller says which outcomes these are.

/// An incident: one of these trials, with all that it counts for.
struct stored_incident {
  function_identity function{};
  std::string arguments{};            ///< of the key, for people
  std::string arguments_canonical{};  ///< equal for equal keys
  device_identity device{};           ///< its name, platform and driver; the rest is empty
  std::string device_canonical{};     ///< equal for devices that are equal in everything
  search_identity search{};
  search_id in_search{};
  std::int64_t position = 0;  ///< of the trial in its search
  stored_trial trial{};
};

/// True for an incident that is meant.
using incident_choice = std::function<bool(const stored_incident&)>;

/// All of a database with one of these outcomes that were tried and that `which` chooses, the
/// earliest first. None where there is no file. @throws database_error
std::vector<stored_incident> list_incidents(const std::string& path,
                                            std::span<const std::string> outcomes,
                                            const incident_choice& which);

/// Removes those trials, in one transaction, so that they count no more.
/// @returns how many there were. @throws database_error
std::size_t forget_incidents(const std::string& path, std::span<const std::string> outcomes,
                             const incident_choice& which);

}  // namespace tune
