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

/// Selects the prior results that a search needs. Other parts are not read.
struct prior_query {
  search_identity search{};                          ///< of the search that is about to start
  std::span<const std::string> incident_outcomes{};  ///< outcomes of prior_rows::incidents
  std::string failure_outcome{};                     ///< outcome of prior_rows::failures
  bool unfinished = false;                           ///< reads prior_rows::unfinished
};

/// Rows of earlier searches that save work in the next one, read at one moment.
struct prior_rows {
  /// The trials for exactly this key that were tried and had one of incident_outcomes, in searches
  /// of the same stage with the same compiler and libtune, for any space, the latest first.
  std::vector<stored_trial> incidents{};
  /// The trials of the function, device and compiler with failure_outcome, caused by the last
  /// program that they compiled: one for each program, for any key. For trials without programs,
  /// one for each configuration of the same key, space and stage. The latest trial with a program
  /// decides: if it got further, the program is valid after all.
  std::vector<stored_trial> failures{};
  /// The latest search of the same stage for exactly this key, with its trials, if it is unfinished
  /// or was stopped.
  std::optional<stored_search> unfinished{};
};

/// The name of a peak: the highest measured rate of a device, as one libtune measures it.
struct peak_identity {
  device_identity device{};       ///< with its driver
  std::string library_version{};  ///< made the measurement
  std::string kind{};             ///< "memory", or the name of an arithmetic
};

/// Other processes locked the database for longer than the call may wait.
class database_busy_error : public database_error {
 public:
  explicit database_busy_error(const database_error& failure) : database_error(failure) {}
};

/// The longest times for which a call waits for other processes with the same database. These delay
/// it only while one of them commits.
struct database_waits {
  /// For find().
  std::chrono::milliseconds read{10'000};
  /// For all other functions.
  std::chrono::milliseconds write{10'000};
};

/// The results of tuning, in a file that is created with the first result: one readable table for
/// each autotune function and version, named "<name>__<version>", and every trial of every search.
///
/// Thread-safe: the calls of several threads take turns. Any number of processes, and of objects in
/// one process, may use one file.
///
/// A row with a wrong checksum counts as missing. A file of libtune that is too damaged to read is
/// moved aside by the next call that writes, which creates a new one; files of others are never
/// changed (FORMAT.md).
///
/// All functions throw argument_error for data that can never be stored (a wrong type, a NaN in a
/// key, a bad name), schema_drift_error if the fields of the function have changed but not its
/// version, database_error if the file cannot be opened, read or written, database_busy_error if
/// others lock it for too long, and forked_process_error in a process made by fork without exec
/// after the parent used libtune.
class tuning_database {
 public:
  /// Opens no file yet.
  /// @param path    a file; a relative path is resolved now
  /// @param access  any value but read_write makes storing throw database_error; with immutable a
  ///                missing file is also an error
  explicit tuning_database(const std::string& path, database_waits waits = {},
                           database_access access = database_access::read_write);
  ~tuning_database();
  tuning_database(tuning_database&&) noexcept;
  tuning_database& operator=(tuning_database&&) noexcept;

  /// The absolute path of the file.
  const std::string& path() const noexcept;

  /// Returns the result for a key, or for the nearest device with one for the same arguments (in
  /// the order of rank_nearest). Empty without a result, or without a file; never changes anything.
  std::optional<record> find(const function_identity& function, const record_key& key,
                             match_mode mode = match_mode::exact);

  /// Returns the results for the same arguments, from the nearest device to the farthest, including
  /// the exact match; or the priors. Empty if find would be.
  /// @param most  the largest number of results
  std::vector<record> find_nearest(const function_identity& function, const record_key& key,
                                   std::size_t most, nearest_kind kind = nearest_kind::results);
  /// Returns the results for other arguments and other devices, the nearest first, with their
  /// searches. Empty if there is no file, or reading takes too long.
  std::vector<similar_result> similar(const function_identity& function,
                                      const similar_query& query);
  /// Like find(), with another wait. @param wait  empty: as long as for writing
  std::optional<record> find_patiently(const function_identity& function, const record_key& key,
                                       match_mode mode = match_mode::exact,
                                       std::optional<std::chrono::milliseconds> wait = {});

  /// Throws if no result could be stored, to be called before a search begins. Creates the file as
  /// storing does. A database that others lock for too long is accepted.
  /// @throws database_error that says what to do
  void require_writable();

  /// Stores the result for a key, replacing an earlier one. It is on disk on return. Creates the
  /// file if needed, for its owner only, and missing folders.
  /// @param score_ns  the measured time, finite and above zero; empty if none was measured
  void store(const function_identity& function, const record_key& key,
             const std::vector<named_value>& values, std::optional<double> score_ns);

  /// Stores the result for a key unless there is one, in one step, so that all processes that tune
  /// the same key end with the same result: the first.
  /// @returns the present result of the key
  record store_first(const function_identity& function, const record_key& key,
                     const std::vector<named_value>& values, std::optional<double> score_ns);

  /// Stores the start of a search for a key. @param strategy  its name; empty: not stored
  search_id begin_search(const function_identity& function, const record_key& key,
                         const search_identity& identity = {}, const std::string& strategy = {});
  /// Stores a trial of a search. It is on disk on return.
  void add_trial(search_id search, const stored_trial& trial);
  /// Stores several trials, all or none of them; hardly slower than storing one.
  /// @param replacing  trials that replace earlier ones of their configurations
  void add_trials(search_id search, std::span<const stored_trial> trials,
                  std::span<const stored_trial> replacing = {});
  /// Stores the end of a search.
  /// @param result  a word such as "found"; stopped_search for one that may be continued
  /// @param course  stored if it has a strategy, with its space and seeds if it has them
  void finish_search(search_id search, const std::string& result, const stored_course& course = {});

  /// Returns the rows of earlier searches that help the next one, read in one transaction. Waits
  /// for others as long as for writing. @param query  selects the rows
  prior_rows prior(const function_identity& function, const record_key& key,
                   const prior_query& query);
  /// Returns only prior_rows::unfinished.
  std::optional<stored_search> unfinished_search(const function_identity& function,
                                                 const record_key& key, int stage);

  /// Returns the search for exactly this key that was started last, finished or not.
  std::optional<stored_search> latest_search(const function_identity& function,
                                             const record_key& key);
  /// The same without its trials, which is faster. @param wait  empty: as long as for writing
  std::optional<stored_search> latest_search_result(
      const function_identity& function, const record_key& key,
      std::optional<std::chrono::milliseconds> wait = {});
  /// Returns the trials of latest_search(); empty without a search.
  std::vector<stored_trial> trials(const function_identity& function, const record_key& key);
  /// Returns the origin of a result with these values: the latest trial of its key that measured
  /// them. Empty if there is no such trial.
  std::optional<result_origin> origin(const function_identity& function, const record_key& key,
                                      const std::vector<named_value>& values);

  /// Returns a kept peak per second; empty without one, or without a file; never changes anything.
  std::optional<double> find_peak(const peak_identity& of);
  /// Keeps a peak per second, finite and above zero, unless a higher one is kept.
  void store_peak(const peak_identity& of, double rate);

 private:
  class implementation;
  std::unique_ptr<implementation> impl_;
};

}  // namespace tune
