// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "libtune/store/database/database_file.hpp"
#include "libtune/store/files/file_lock.hpp"

namespace SQLite {
class Database;
class Statement;
class Transaction;
}  // namespace SQLite

namespace tune::detail {

/// Marks that its thread has a transaction or a running statement in a tuning database, which may
/// make other processes wait. Nothing may be compiled or timed meanwhile.
class [[nodiscard]] database_use {
 public:
  database_use() noexcept;
  ~database_use();
  database_use(const database_use&) = delete;
  database_use& operator=(const database_use&) = delete;

  /// True if this thread has one.
  static bool is_active() noexcept;
};

/// An open database file with libtune's settings. Not thread-safe. Errors of SQLite are
/// SQLite::Exceptions.
///
/// The journal is a rollback journal: it works on every file system with locks, on read-only media,
/// and for any number of processes that open a new file at the same time. A commit is on disk when
/// it returns. Nothing in a file is executed: no triggers, views or functions.
class connection {
 public:
  /// Opens an existing file; a file without write permission is opened for reading.
  /// @param wait       the longest time that a statement may wait for other processes
  /// @param open_wait  the same during opening
  /// @throws database_error if the file belongs to another application, was made by a newer libtune
  ///         and
  ///                        is marked as unreadable for this one, or has other tables
  /// @param access     any value but read_write prevents all writes, including a journal
  connection(const std::string& path, std::chrono::milliseconds wait,
             std::chrono::milliseconds open_wait,
             database_access access = database_access::read_write);
  ~connection();
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  /// True while the open file has its path: until it is moved or removed. Rows written after that
  /// are lost, and its journal could be taken for another file's.
  bool is_in_place() const noexcept;

  const std::string& path() const noexcept { return path_; }
  SQLite::Database& database() noexcept { return *database_; }
  /// The longest time for which a statement waits for other processes now.
  std::chrono::milliseconds wait() const noexcept { return wait_; }

  /// True if the file has libtune's tables; a new one has none.
  /// @throws database_error as the constructor
  bool is_ready();

  /// A number that changes whenever a process adds or removes a table. Constant inside a
  /// transaction.
  std::int64_t schema_number();

 private:
  friend class scoped_wait;
  friend class write_transaction;
  friend class work_limit;

  static int keep_waiting(void* itself, int attempts) noexcept;
  void tell_of_wait(std::chrono::nanoseconds waited) noexcept;
  void remember_file();

  std::string path_;
  std::unique_ptr<SQLite::Database> database_;
  std::chrono::milliseconds wait_;
  wait_clock waiting_;
  std::chrono::nanoseconds next_word_{0};
  std::chrono::steady_clock::time_point work_deadline_ =
      std::chrono::steady_clock::time_point::max();
  std::uint64_t device_ = 0;  // of the file, with inode_
  std::uint64_t inode_ = 0;
  bool ready_ = false;
  std::unique_ptr<SQLite::Statement> schema_number_;  // made on first use
};

/// Limits the working time of statements, without waits, during its life: the amount of work
/// depends on the rows, and a file may be damaged or hostile.
class [[nodiscard]] work_limit {
 public:
  work_limit(connection& target, std::chrono::milliseconds limit) noexcept;
  ~work_limit();
  work_limit(const work_limit&) = delete;
  work_limit& operator=(const work_limit&) = delete;

 private:
  connection& target_;
};

/// Changes the longest wait of a statement during its life.
class [[nodiscard]] scoped_wait {
 public:
  scoped_wait(connection& target, std::chrono::milliseconds wait) noexcept;
  ~scoped_wait();
  scoped_wait(const scoped_wait&) = delete;
  scoped_wait& operator=(const scoped_wait&) = delete;

 private:
  connection& target_;
  std::chrono::milliseconds before_;
};

/// Reads one state of a database, for several consistent statements. Other processes cannot commit
/// meanwhile.
class [[nodiscard]] read_transaction {
 public:
  explicit read_transaction(connection& source);
  ~read_transaction();
  read_transaction(const read_transaction&) = delete;
  read_transaction& operator=(const read_transaction&) = delete;

 private:
  database_use use_;
  std::unique_ptr<SQLite::Transaction> transaction_;
};

/// The only way to change a database. It takes the write lock immediately, because a transaction
/// that reads first cannot wait for the lock later. Creates libtune's tables in a new file. Writing
/// to a file of a newer libtune is a database_error. Rolls back unless committed. Nothing may be
/// compiled or timed meanwhile; its database_use marks that.
class [[nodiscard]] write_transaction {
 public:
  /// @param wait  the longest wait for the lock
  write_transaction(connection& target, std::chrono::milliseconds wait);
  ~write_transaction();
  write_transaction(const write_transaction&) = delete;
  write_transaction& operator=(const write_transaction&) = delete;

  void commit();

 private:
  database_use use_;
  scoped_wait wait_;
  std::unique_ptr<SQLite::Transaction> transaction_;
};

/// Ends a statement's run with its life, so that no lock outlives the use.
class [[nodiscard]] statement_run {
 public:
  explicit statement_run(SQLite::Statement& statement) noexcept : statement_(statement) {}
  ~statement_run();
  statement_run(const statement_run&) = delete;
  statement_run& operator=(const statement_run&) = delete;

 private:
  database_use use_;
  SQLite::Statement& statement_;
};

}  // namespace tune::detail
