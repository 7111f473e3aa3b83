// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libtune/extra/maintenance/database_content.hpp"
#include "libtune/store/database/database_file.hpp"
#include "libtune/store/database/record.hpp"

namespace tune {

/// The numbers of rows of one function in a database.
struct function_summary {
  function_identity function{};
  std::size_t results = 0;
  std::size_t searches = 0;
  std::size_t trials = 0;
  std::vector<device_identity> devices{};  ///< devices with results, in no particular order
};

/// The trials of a search with one outcome.
struct outcome_summary {
  std::string outcome{};
  std::size_t trials = 0;
  std::string latest{};  ///< when the last of them was stored, UTC
};

/// The state of a search that may still run.
struct trials_summary {
  std::vector<outcome_summary> outcomes{};  ///< the most frequent first
  std::vector<named_value> best{};          ///< the configuration with the smallest time, if any
  std::optional<double> best_ns{};          ///< the smallest time
};

/// Reads whole databases, row by row: each row in its state when it is read. Other processes can
/// commit every millisecond or so meanwhile; their changes may be included or not, and a search
/// that they remove is left out. Never changes anything, except to roll back the transaction of a
/// killed process. Not thread-safe.
///
/// All functions throw database_error if the file cannot be opened or read.
class database_reader {
 public:
  /// Opens no file yet. @throws argument_error if the path cannot name a file
  /// @param access  read_only: nothing is written, and the file may belong to another user
  explicit database_reader(const std::string& path,
                           database_access access = database_access::read_write);
  ~database_reader();
  database_reader(const database_reader&) = delete;
  database_reader& operator=(const database_reader&) = delete;

  /// True if the file exists and has libtune's tables.
  bool has_tables();

  /// Returns every function, by name and version. Counts all rows.
  std::vector<function_summary> functions();
  /// The same without counting.
  std::vector<function_identity> identities();

  /// Calls visit for each chosen result of a function, in the order of the keys. The database is
  /// not locked meanwhile.
  void for_each_result(const function_identity& function, const row_choice& choice,
                       const std::function<void(result_content&)>& visit);
  /// Returns one of the chosen results of a function, if there is one.
  std::optional<result_content> any_result(const function_identity& function,
                                           const row_choice& choice);

  /// Returns the numbers of the chosen searches of a function, the latest last.
  std::vector<std::int64_t> find_searches(const function_identity& function,
                                          const row_choice& choice = {});
  /// Returns the numbers of the searches of a function that are unfinished or can be continued, and
  /// are the latest of their key.
  std::vector<std::int64_t> find_open_searches(const function_identity& function);
  /// Returns the search with a number; empty if the database no longer has it.
  std::optional<search_content> read_search(std::int64_t number, bool with_trials = true);

  /// Returns one function with its results and searches.
  function_content read(const function_identity& function);
  /// Returns the result for one key, if any, and the searches for it with their trials.
  function_content read_key(const function_identity& function, const record_key& key);

  /// Returns the state of a search, by its number, without checking the checksums of its trials.
  trials_summary summarise_trials(std::int64_t search);

  /// Returns the whole database.
  database_content read_all();

  /// The number of rows that were left out so far because of a wrong checksum.
  std::size_t damaged() const noexcept;

 private:
  class implementation;
  std::unique_ptr<implementation> impl_;
};

/// Writes one state of a database to another file, replacing that file, even while others write.
/// SQLite makes the copy, because a copy of the file itself could contain half a transaction.
/// @throws argument_error if the other file is the database, belongs to it, has a journal or is not
///         a
///         regular file; database_error if there is no database or it cannot be read; error if the
///         other file cannot be written
void back_up_database(const std::string& path, const std::string& to);

}  // namespace tune
