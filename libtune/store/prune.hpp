// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>

namespace tune {

/// What to remove: what fits everything that is given here.
struct prune_options {
  std::optional<std::string> function{};  ///< a function's name, all its versions
  std::optional<int> version{};           ///< this version alone
  std::optional<std::string> device{};    ///< a device's name
  /// Results tuned and searches started before this date, as the columns have it: "2024-01-31" or
  /// "2024-01-31T12:00:00Z".
  std::optional<std::string> before{};
  /// Only searches for whose key there is no result, and no result at all.
  bool orphans = false;
  /// Counts and changes nothing.
  bool dry_run = false;
};

struct prune_report {
  std::size_t results = 0;
  std::size_t searches = 0;
  std::size_t functions = 0;  ///< whose table went too, because nothing was left of them
};

/// Removes results and searches with their trials, in one transaction. A function of which nothing
/// is left is forgotten if its name was given. @throws argument_error if nothing is given,
/// database_error if the file cannot be opened, read or written
prune_report prune_database(const std::string& path, const prune_options& options);

}  // namespace tune
