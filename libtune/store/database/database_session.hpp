// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include "libtune/store/database/connection.hpp"
#include "libtune/store/database/function_table.hpp"
#include "libtune/store/database/stored_trial.hpp"
#include "libtune/store/database/tuning_database.hpp"

namespace tune::detail {

/// The use of a tuning database by one object: opens the file on demand, and again after it has
/// moved; runs one step at a time; and converts failures to a database_error, a miss, or a new file
/// in place of a damaged one. Steps are arbitrary callables. Thread-safe.
class database_session {
 public:
  /// Opens no file yet.
  database_session(const std::string& path, database_waits waits, database_access access);
  ~database_session();
  database_session(const database_session&) = delete;
  database_session& operator=(const database_session&) = delete;

  const std::string& path() const noexcept { return path_; }
  const database_waits& waits() const noexcept { return waits_; }

  /// Runs a step exclusively, and converts errors of SQLite to a database_error.
  /// @param verb, subject  the attempt of the step, for that error
  void attempt(std::string_view verb, std::string_view subject, const std::function<void()>& step);

  /// Runs a step that writes. A damaged file is moved aside, and the step repeated on a new one.
  void attempt_to_write(std::string_view verb, std::string_view subject,
                        const std::function<void()>& step);

  /// Runs read(table) exclusively, if the function has a table. Reads for at most a second.
  /// @param wait      for other processes; empty: as long as a lookup
  /// @throws database_busy_error if others lock the database for longer
  void read_table(const function_identity& function,
                  const std::function<void(function_table&)>& read,
                  std::optional<std::chrono::milliseconds> wait = {});

  /// Runs read(connection) exclusively in one transaction, if the database has tables. Reads for at
  /// most a second, and waits for other processes as long as a lookup.
  /// @param verb, subject  the attempt, for errors
  void read(std::string_view verb, std::string_view subject,
            const std::function<void(connection&)>& read);

  /// Returns the result of read(connection, table), run exclusively in one transaction; an empty
  /// value if the database has no table of the function.
  /// @param wait  for other processes; empty: as long as for writing
  template <class Read>
  auto read_searches(const function_identity& function, Read read,
                     std::optional<std::chrono::milliseconds> wait = {}) {
    std::invoke_result_t<Read, connection&, function_table&> found{};
    visit_searches(
        function, [&](connection& source, function_table& table) { found = read(source, table); },
        wait.value_or(waits_.write));
    return found;
  }

  // The rest is for steps.

  /// Returns the database if it has tables, else null. @param wait  for others, during opening
  connection* open_for_reading(std::chrono::milliseconds wait);

  /// Returns the function's table, checked once for each state of the tables; null if it does not
  /// exist yet. Call it inside a transaction, so that the table cannot change during its use.
  function_table* find_table(connection& source, const function_identity& function);

  /// Tests writing, and rolls back.
  void try_to_write();

  /// Runs write(connection, table) in a transaction that also creates the table if needed.
  void write_to_table(const function_identity& function,
                      const std::function<void(connection&, function_table&)>& write);

  /// Runs write(connection) in a transaction.
  void write(const std::function<void(connection&)>& write);

  /// Runs write(connection) in a transaction, for a search that the database must have.
  void write_to_search(search_id search, const std::function<void(connection&)>& write);

 private:
  void visit_searches(const function_identity& function,
                      const std::function<void(connection&, function_table&)>& visit,
                      std::chrono::milliseconds longest);
  void write_in_place(const std::function<void()>& step);
  connection& open_for_writing();
  void require_writable() const;
  void require_search(connection& target, search_id search) const;
  void make_file();
  void close();
  void close_if_moved();
  void set_aside(const std::string& reason);

  const std::string path_;
  const database_waits waits_;
  bool damage_is_known_ = false;  // from an earlier error that the caller got
  const database_access access_;
  std::mutex mutex_;
  std::unique_ptr<connection> connection_;
  std::map<std::string, std::unique_ptr<function_table>> tables_;  // declared after the members
                                                                   // that they refer to
  std::int64_t schema_number_ = 0;                                 // at their last check
};

}  // namespace tune::detail
