// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/connection.hpp"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>
#include <algorithm>
#include <exception>
#include <fmt/format.h>
#include <random>
#include <sqlite3.h>
#include <string_view>
#include <sys/stat.h>
#include <thread>
#include <utility>

#include "libtune/base/log.hpp"
#include "libtune/store/database/database_failure.hpp"
#include "libtune/store/database/database_file.hpp"
#include "libtune/store/database/schema.hpp"
#include "libtune/store/files/lock_holder.hpp"

namespace tune::detail {
namespace {

using namespace std::chrono_literals;

thread_local int database_uses = 0;

int flags_for(database_access access) noexcept {
  constexpr int always =
      SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_EXRESCODE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
  switch (access) {
    case database_access::read_write: return always | SQLITE_OPEN_READWRITE;
    case database_access::read_only: return always | SQLITE_OPEN_READONLY;
    case database_access::immutable: break;
  }
  return always | SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
}

int milliseconds(std::chrono::milliseconds wait) noexcept { return static_cast<int>(wait.count()); }

std::unique_ptr<SQLite::Database> open_immutable(const std::string& path,
                                                 std::chrono::milliseconds wait) {
  require_system_trust(path);
  require_regular_file(path);
  return std::make_unique<SQLite::Database>(
      immutable_uri(path), flags_for(database_access::immutable), milliseconds(wait));
}

// For a path that is too long, SQLite only reports that it cannot be opened.
void require_short_path(const std::string& path) {
  constexpr std::size_t longest_suffix = std::string_view("-journal").size();
  const auto most = static_cast<std::size_t>(sqlite3_vfs_find(nullptr)->mxPathname);
  if (path.size() + longest_suffix <= most) return;
  throw database_failure(
      path, "open it",
      fmt::format("its path has {} bytes and SQLite takes {}", path.size(), most - longest_suffix),
      "name a file with a shorter path with LIBTUNE_DB");
}

std::unique_ptr<SQLite::Database> open_trusted(const std::string& path, database_access access,
                                               std::chrono::milliseconds wait) {
  require_trust(path);
  if (access == database_access::read_only) require_regular_file(path);
  const std::string name = without_links_on_the_way(path);
  require_short_path(name);
  return std::make_unique<SQLite::Database>(name, flags_for(access), milliseconds(wait));
}

// Seeded by the clock, because std::random_device may need a file, and too many may be open.
void pause(std::chrono::microseconds least, std::chrono::microseconds most) {
  thread_local std::minstd_rand random(
      static_cast<unsigned>(std::chrono::steady_clock::now().time_since_epoch().count()));
  std::uniform_int_distribution<std::int64_t> length_us(least.count(), most.count());
  std::this_thread::sleep_for(std::chrono::microseconds(length_us(random)));
}

void set_switch(SQLite::Database& database, int option, int value) {
  database.check(sqlite3_db_config(database.getHandle(), option, value, nullptr));
}

void distrust_content(SQLite::Database& database) {
  set_switch(database, SQLITE_DBCONFIG_DEFENSIVE, 1);
  set_switch(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0);
  set_switch(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0);
  set_switch(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0);
  // Without this, a quoted name that is not a column would be read as a string instead of an error.
  set_switch(database, SQLITE_DBCONFIG_DQS_DML, 0);
  set_switch(database, SQLITE_DBCONFIG_DQS_DDL, 0);
  database.exec("PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0");
}

// Far above the needs of a tuning database, and far below harmful sizes. SQLite's own limits only
// protect SQLite; these keep a hostile file from exhausting the memory or the stack.
void limit_resources(sqlite3* handle) noexcept {
  constexpr int mebibyte = 1 << 20;
  sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, 64 * mebibyte);
  sqlite3_limit(handle, SQLITE_LIMIT_SQL_LENGTH, mebibyte);
  sqlite3_limit(handle, SQLITE_LIMIT_COMPOUND_SELECT, 8);
  sqlite3_limit(handle, SQLITE_LIMIT_ATTACHED, 1);  // VACUUM needs one
  sqlite3_limit(handle, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 256);
  sqlite3_limit(handle, SQLITE_LIMIT_TRIGGER_DEPTH, 8);  // removing trials with their search
  sqlite3_limit(handle, SQLITE_LIMIT_WORKER_THREADS, 0);
}

int is_past(void* deadline) noexcept {
  using clock = std::chrono::steady_clock;
  return clock::now() > *static_cast<const clock::time_point*>(deadline) ? 1 : 0;
}

void use_rollback_journal(SQLite::Database& database, const std::string& path) {
  const std::string mode = database.execAndGet("PRAGMA journal_mode = DELETE").getString();
  if (mode != "delete") {
    throw database_failure(path, "use a rollback journal", "its journal mode is " + mode,
                           "end the programs that use it, or move the file away");
  }
  database.exec("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON");
  // Otherwise a transaction of more than two megabytes locks readers out long before its commit.
  database.exec("PRAGMA cache_spill = OFF");
}

// SQLite does not wait at all if it expects a deadlock.
std::unique_ptr<SQLite::Transaction> begin_immediate(SQLite::Database& database,
                                                     std::chrono::milliseconds wait) {
  wait_clock clock;
  while (true) {
    const auto waited = clock.elapsed();
    try {
      return std::make_unique<SQLite::Transaction>(database,
                                                   SQLite::TransactionBehavior::IMMEDIATE);
    } catch (const SQLite::Exception& failure) {
      if (!is_busy(failure) || waited >= wait) throw;
    }
    pause(200us, 5ms);
  }
}

}  // namespace

database_use::database_use() noexcept { ++database_uses; }

database_use::~database_use() { --database_uses; }

bool database_use::is_active() noexcept { return database_uses > 0; }

connection::connection(const std::string& path, std::chrono::milliseconds wait,
                       std::chrono::milliseconds open_wait, database_access access)
    : path_(path),
      database_(access == database_access::immutable ? open_immutable(path, open_wait)
                                                     : open_trusted(path, access, open_wait)),
      wait_(open_wait) {
  sqlite3_busy_handler(database_->getHandle(), keep_waiting, this);
  remember_file();
  // Checked again, because another file may have replaced this one before it was opened.
  if (access == database_access::immutable) {
    require_system_trust(path);
  } else {
    require_trust(path);
  }
  limit_resources(database_->getHandle());
  constexpr int steps_between_looks = 1000;
  sqlite3_progress_handler(database_->getHandle(), steps_between_looks, is_past, &work_deadline_);
  distrust_content(*database_);
  register_row_checksum(*database_);
  // Before the journal is accessed, so that a file of another application or of a newer libtune
  // stays unchanged.
  const std::int32_t version = read_marks(*database_, path_);
  if (version <= schema_version && access == database_access::read_write) {
    use_rollback_journal(*database_, path_);
  }
  wait_ = wait;
}

connection::~connection() = default;

// SQLite's own handler tries at increasing intervals, up to 100 ms: late comers overtake those that
// have waited long, and a lookup that tries six times in its 50 ms misses the short gaps between
// the commits of many writers.
int connection::keep_waiting(void* itself, int attempts) noexcept {
  constexpr std::chrono::milliseconds until_told{500};
  auto& waiting = *static_cast<connection*>(itself);
  if (attempts == 0) {
    waiting.waiting_ = wait_clock();
    waiting.next_word_ = until_told;
  }
  const auto waited = waiting.waiting_.elapsed();
  if (waited >= waiting.next_word_) waiting.tell_of_wait(waited);
  if (waited >= waiting.wait_) return 0;
  // Readers may be waiting for a writer that waits for readers; that is over soon.
  constexpr int quick_attempts = 16;
  const std::chrono::microseconds most = attempts < quick_attempts ? 1ms : waiting.wait_ / 50;
  pause(200us, std::clamp<std::chrono::microseconds>(most, 1ms, 8ms));
  return 1;
}

void connection::tell_of_wait(std::chrono::nanoseconds waited) noexcept {
  next_word_ = 2 * waited;
  try {
    const auto holder = find_lock_holder(device_, inode_);
    log(log_level::info,
        fmt::format("tuning database '{}': {} keeps it; waiting for {:.1f} s, for {:.0f} s at most",
                    path_, holder ? describe(look_at_holder(*holder)) : "another process",
                    std::chrono::duration<double>(waited).count(),
                    std::chrono::duration<double>(wait_).count()));
  } catch (const std::exception&) {  // callbacks of SQLite must not throw
  }
}

void connection::remember_file() {
  struct stat status {};
  if (::lstat(path_.c_str(), &status) != 0) return;
  device_ = status.st_dev;
  inode_ = status.st_ino;
  // Another file may have replaced this one at the path since it was opened.
  int has_moved = 0;
  sqlite3_file_control(database_->getHandle(), "main", SQLITE_FCNTL_HAS_MOVED, &has_moved);
  if (has_moved != 0) inode_ = 0;
}

bool connection::is_in_place() const noexcept {
  struct stat status {};
  return ::lstat(path_.c_str(), &status) == 0 && status.st_dev == device_ &&
         status.st_ino == inode_;
}

bool connection::is_ready() {
  if (!ready_) ready_ = read_marks(*database_, path_) > 0;
  return ready_;
}

std::int64_t connection::schema_number() {
  if (!schema_number_) {
    schema_number_ = std::make_unique<SQLite::Statement>(*database_, "PRAGMA schema_version");
  }
  const statement_run run(*schema_number_);
  schema_number_->executeStep();
  return schema_number_->getColumn(0).getInt64();
}

scoped_wait::scoped_wait(connection& target, std::chrono::milliseconds wait) noexcept
    : target_(target), before_(std::exchange(target.wait_, wait)) {}

scoped_wait::~scoped_wait() { target_.wait_ = before_; }

work_limit::work_limit(connection& target, std::chrono::milliseconds limit) noexcept
    : target_(target) {
  target_.work_deadline_ = std::chrono::steady_clock::now() + limit;
}

work_limit::~work_limit() { target_.work_deadline_ = std::chrono::steady_clock::time_point::max(); }

read_transaction::read_transaction(connection& source)
    : transaction_(std::make_unique<SQLite::Transaction>(source.database())) {}

read_transaction::~read_transaction() = default;

write_transaction::write_transaction(connection& target, std::chrono::milliseconds wait)
    : wait_(target, wait), transaction_(begin_immediate(target.database(), wait)) {
  const std::int32_t version = read_marks(target.database(), target.path());
  if (version > schema_version) throw newer_tables(target.path(), "write to it", version);
  if (version == 0) create_fixed_tables(target.database());
}

write_transaction::~write_transaction() = default;

void write_transaction::commit() { transaction_->commit(); }

statement_run::~statement_run() { statement_.tryReset(); }

}  // namespace tune::detail
