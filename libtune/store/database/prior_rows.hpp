// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libtune/store/database/function_identity.hpp"
#include "libtune/store/database/record.hpp"
#include "libtune/store/database/stored_trial.hpp"

namespace tune {

/// Selects the prior results that a search needs. A part that is not asked for is not read.
struct prior_query {
  search_identity search{};                          ///< of the search that is about to start
  std::span<const std::string> incident_outcomes{};  ///< outcomes of prior_rows::incidents
  std::string failure_outcome{};                     ///< outcome of prior_rows::failures
  bool unfinished = false;                           ///< reads prior_rows::unfinished
  std::size_t most_results = 0;                      ///< of prior_rows::results, at most
};

/// The rows of earlier searches that spare the next one work, as they were at one moment.
struct prior_rows {
  /// The trials for exactly this key that ended with one of incident_outcomes and were tried, in
  /// searches of the same stage with the same compiler and libtune, in whatever space, the latest
  /// first.
  std::vector<stored_trial> incidents{};
  /// The trials of the function, device and compiler that ended with failure_outcome because of the
  /// last program that they compiled: one for each program, whatever the key. Where no program was
  /// noted, one for each configuration of the same key, space and stage. The latest trial with a
  /// program decides: one that came further shows that the program is good after all.
  std::vector<stored_trial> failures{};
  /// The search of the same stage for exactly this key that was started last, with its trials, if
  /// it is unfinished or was stopped.
  std::optional<stored_search> unfinished{};
  /// The latest results of exactly this device, whatever the arguments. Empty if reading them takes
  /// too long.
  std::vector<other_result> results{};
};

namespace detail {

class connection;
class function_table;

/// Reads the parts of a query, inside the caller's read_transaction.
/// Throws SQLite::Exception for what SQLite reports.
prior_rows read_prior_rows(connection& source, function_table& table, const record_key& key,
                           const prior_query& query);

}  // namespace detail
}  // namespace tune
