// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/store/database/database_file.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/store/database/match.hpp"
#include "libtune/store/database/record.hpp"
#include "libtune/store/database/stored_trial.hpp"

namespace tune {

/// Selects the prior results that a search needs. A part that is not asked for is not read.
struct prior_query {
  search_identity search{};                          ///< of the search that is about to start
  std::span<const std::string> incident_outcomes{};  ///< outcomes of prior_rows::incidents
  std::string failure_outcome{};                     ///< outcome of prior_rows::failures
  bool unfinished = false;                           ///< reads prior_rows::unfinished
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
};

namespace detail {

class connection;
class function_table;

/// Reads the parts of a query, inside the caller's read_transaction.
/// Throws SQLite::Exception for what SQLite reports.
prior_rows read_prior_rows(connection& source, const function_table& table, const record_key& key,
                           const prior_query& query);

}  // namespace detail

/// Others held the database for longer than the call may wait.
class database_busy_error : public database_error {
 public:
  explicit database_busy_error(const database_error& failure) : database_error(failure) {}
};

/// The longest times that a call may wait for other processes that use the same database. Others
/// hold it up only while one of them commits.
struct database_waits {
  /// find().
  std::chrono::milliseconds read{10'000};
  /// Everything else.
  std::chrono::milliseconds write{10'000};
};

/// The results of tuning, in a file that is made when the first of them is stored: one table for
/// each autotune function and version, named "<name>__<version>", that a person can read, and
/// beside them every trial of every search.
///
/// Thread-safe: the calls of several threads take turns. Any number of processes, and of objects
/// in one process, may use one file.
///
/// A row whose checksum is wrong counts as missing. A file of libtune that is damaged beyond
/// reading is moved aside by the next call that writes, which starts a new one; files of others are
/// never touched (FORMAT.md).
///
/// All functions throw argument_error for what can never be stored (a wrong type, a NaN in a key,
/// a bad name), schema_drift_error if the fields of the function have changed and its version has
/// not, database_error if the file cannot be opened, read or written: database_busy_error if
/// others hold it for too long, and forked_process_error in a process made by fork without exec
/// after libtune was used in its parent.
class tuning_database {
 public:
  /// Opens nothing yet.
  /// @param path    a file; a relative path is from the current folder as of now
  /// @param access  with anything but read_write, storing throws database_error; with immutable it
  ///                is also an error if there is no file
  explicit tuning_database(const std::string& path, database_waits waits = {},
                           database_access access = database_access::read_write);
  ~tuning_database();
  tuning_database(tuning_database&&) noexcept;
  tuning_database& operator=(tuning_database&&) noexcept;

  /// The absolute path of the file.
  const std::string& path() const noexcept;

  /// The result for a key, or for the nearest device that has one for the same arguments
  /// (rank_nearest has the order). Nothing if there is none, or no file; changes nothing in any
  /// case.
  std::optional<record> find(const function_identity& function, const record_key& key,
                             match_mode mode = match_mode::exact);

  /// The results for the same arguments, from the nearest device to the farthest, the exact match
  /// among them; or the priors. Empty where find finds nothing.
  /// @param most  how many of them at most
  std::vector<record> find_nearest(const function_identity& function, const record_key& key,
                                   std::size_t most, nearest_kind kind = nearest_kind::results);
  /// The results for other arguments and other devices, the nearest first, with the searches behind
  /// them. Empty where find finds nothing, or where reading them takes too long.
  std::vector<similar_result> similar(const function_identity& function,
                                      const similar_query& query);
  /// The same with another wait. @param wait  empty: as long as for writing
  std::optional<record> find_patiently(const function_identity& function, const record_key& key,
                                       match_mode mode = match_mode::exact,
                                       std::optional<std::chrono::milliseconds> wait = {});

  /// Refuses a database in which no result could be stored, before a search for one begins.
  /// Makes the file as storing does. One that others hold for too long passes.
  /// @throws database_error that says what to do
  void require_writable();

  /// Stores the result for a key, in place of the one there was. On disk when it returns. Makes
  /// the file if need be, readable and writable by its owner only, and the folders on the way.
  /// @param score_ns  the time that was measured, finite and above zero; empty if none was
  void store(const function_identity& function, const record_key& key,
             const std::vector<named_value>& values, std::optional<double> score_ns);

  /// Stores the result for a key unless there is one, in one step, so that all processes that tune
  /// the same key end with the same result: the first.
  /// @returns the result that the key has now
  record store_first(const function_identity& function, const record_key& key,
                     const std::vector<named_value>& values, std::optional<double> score_ns);

  /// Notes that a search for a key starts. @param strategy  its name; empty: it is not noted
  search_id begin_search(const function_identity& function, const record_key& key,
                         const search_identity& identity = {}, const std::string& strategy = {});
  /// Keeps a trial of a search. On disk when it returns.
  void add_trial(search_id search, const stored_trial& trial);
  /// Keeps several, all or none of them, which costs little more than to keep one.
  /// @param replacing  trials that take the places of earlier ones of their configurations
  void add_trials(search_id search, std::span<const stored_trial> trials,
                  std::span<const stored_trial> replacing = {});
  /// Notes that a search has ended. @param result  a word such as "found"; stopped_search for one
  ///                                               that may go on later
  /// @param course  noted if it has a strategy, and its space and seeds if it has them
  void finish_search(search_id search, const std::string& result, const stored_course& course = {});

  /// The rows of earlier searches that serve the next one, read in one transaction. Waits for
  /// others as long as for writing. @param query  says which
  prior_rows prior(const function_identity& function, const record_key& key,
                   const prior_query& query);
  /// Returns prior_rows::unfinished alone.
  std::optional<stored_search> unfinished_search(const function_identity& function,
                                                 const record_key& key, int stage);

  /// The search for exactly this key that was started last, finished or not.
  std::optional<stored_search> latest_search(const function_identity& function,
                                             const record_key& key);
  /// The same without its trials, which is quicker. @param wait  empty: as long as for writing
  std::optional<stored_search> latest_search_result(
      const function_identity& function, const record_key& key,
      std::optional<std::chrono::milliseconds> wait = {});
  /// Its trials; none if there was no search.
  std::vector<stored_trial> trials(const function_identity& function, const record_key& key);
  /// Returns the origin of a result with these values: the latest trial of its key that measured
  /// them. None if there is no such trial.
  std::optional<result_origin> origin(const function_identity& function, const record_key& key,
                                      const std::vector<named_value>& values);

 private:
  class implementation;
  std::unique_ptr<implementation> impl_;
};

}  // namespace tune
