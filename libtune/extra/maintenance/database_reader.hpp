// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libtune/extra/maintenance/database_content.hpp"
#include "libtune/store/database/database_file.hpp"
#include "libtune/store/database/record.hpp"

namespace tune {

/// The numbers of rows that a database holds of one function.
struct function_summary {
  function_identity function{};
  std::size_t results = 0;
  std::size_t searches = 0;
  std::size_t trials = 0;
  std::vector<device_identity> devices{};  ///< that have results, in no certain order
};

/// The trials of a search, by their outcome.
struct outcome_summary {
  std::string outcome{};
  std::size_t trials = 0;
  std::string latest{};  ///< when the last of them was stored, UTC
};

/// The state of a search that may still run.
struct trials_summary {
  std::vector<outcome_summary> outcomes{};  ///< the most frequent first
  std::vector<named_value> best{};  ///< the configuration of the least time, if there is one
  std::optional<double> best_ns{};  ///< that time
};

/// Reads whole databases, row by row: each row is as it is when it is read. Other processes can
/// commit every millisecond or so meanwhile, and what they add or change may be read or not; a
/// search that they remove is left out. Never changes anything, except to roll back the transaction
/// of a killed process. Not thread-safe.
///
/// All functions throw database_error if the file cannot be opened or read.
class database_reader {
 public:
  /// Opens nothing yet. @throws argument_error if the path cannot name a file
  /// @param access  with read_only nothing at all is written, and the file may be another user's
  explicit database_reader(const std::string& path,
                           database_access access = database_access::read_write);
  ~database_reader();
  database_reader(const database_reader&) = delete;
  database_reader& operator=(const database_reader&) = delete;

  /// True if there is a file, and it has libtune's tables.
  bool has_tables();

  /// Every function, by name and version. Counts all rows.
  std::vector<function_summary> functions();
  /// The same without counting.
  std::vector<function_identity> identities();

  /// One function with its results and searches; the trials only if they are asked for.
  function_content read(const function_identity& function, bool with_trials = true);

  /// The searches of a function without their trials.
  std::vector<search_content> read_searches(const function_identity& function);
  /// Reads the trials of a search into it; none if the database does not have it any more.
  void read_trials(search_content& search);

  /// The result for one key, if there is one, and the searches for it with their trials.
  function_content read_key(const function_identity& function, const record_key& key);

  /// The state of a search, by its number, without a look at the checksums of its trials.
  trials_summary summarise_trials(std::int64_t search);

  /// All of it.
  database_content read_all();

  /// The number of rows that were left out so far because their checksum is wrong.
  std::size_t damaged() const noexcept;

 private:
  class implementation;
  std::unique_ptr<implementation> impl_;
};

/// Writes one state of a database to another file, in place of what that is, also while others
/// write. A copy of the file itself could hold half a transaction, so SQLite makes it.
/// @throws argument_error if the other file is the database, belongs to it, has a journal or is no
///         regular file; database_error if there is no database or it cannot be read; error if the
///         other file cannot be written
void back_up_database(const std::string& path, const std::string& to);

}  // namespace tune
