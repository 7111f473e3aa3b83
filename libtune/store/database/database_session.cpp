// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/database_session.hpp"

#include <SQLiteCpp/Exception.h>
#include <fmt/format.h>
#include <utility>

#include "libtune/base/forked_process.hpp"
#include "libtune/base/log.hpp"
#include "libtune/base/seal.hpp"
#include "libtune/store/database/database_failure.hpp"
#include "libtune/store/database/database_file.hpp"
#include "libtune/store/database/trial_log.hpp"

namespace tune::detail {
namespace {

// The longest time for reads of a lookup, whatever the content of the file.
constexpr std::chrono::milliseconds longest_lookup{1000};

}  // namespace

database_session::database_session(const std::string& path, database_waits waits,
                                   database_access access)
    : path_(absolute_path(path)), waits_(waits), access_(access) {
  refuse_if_forked([&] { return "open the tuning database '" + path_ + "'"; });
}

// SQLite forbids a forked process even to close what its parent opened.
database_session::~database_session() {
  if (!is_forked()) return;
  for (auto& [name, table] : tables_) static_cast<void>(table.release());
  static_cast<void>(connection_.release());
}

void database_session::attempt(std::string_view verb, std::string_view subject,
                               const std::function<void()>& step) {
  const auto what = [&] {
    return fmt::format("{} '{}' in the tuning database '{}'", verb, subject, path_);
  };
  refuse_if_forked(what);
  check_seal(sealed_action::database, what);
  const std::lock_guard lock(mutex_);
  try {
    step();
  } catch (const SQLite::Exception& failure) {
    damage_is_known_ = damage_is_known_ || is_damage(failure);
    const std::string asked = std::string(verb) + " '" + std::string(subject) + "'";
    const database_fault told = database_failure(path_, asked, failure);
    if (is_busy(failure)) throw database_busy_error(told);
    throw database_fault(told);
  }
}

void database_session::attempt_to_write(std::string_view verb, std::string_view subject,
                                        const std::function<void()>& step) {
  attempt(verb, subject, [&] {
    try {
      write_in_place(step);
    } catch (const SQLite::Exception& failure) {
      if (!is_damage(failure)) throw;
      set_aside(failure.what());
      write_in_place(step);
    }
  });
}

void database_session::read_table(const function_identity& function,
                                  const std::function<void(function_table&)>& read,
                                  std::optional<std::chrono::milliseconds> wait) {
  attempt("look up", function.name, [&] {
    const auto longest = wait.value_or(waits_.read);
    connection* source = open_for_reading(longest);
    if (source == nullptr) return;
    const scoped_wait patience(*source, longest);
    const read_transaction one_state(*source);
    function_table* table = find_table(*source, function);
    if (table == nullptr) return;
    const work_limit limit(*source, longest_lookup);
    read(*table);
  });
}

void database_session::read(std::string_view verb, std::string_view subject,
                            const std::function<void(connection&)>& read) {
  attempt(verb, subject, [&] {
    connection* source = open_for_reading(waits_.read);
    if (source == nullptr) return;
    const scoped_wait patience(*source, waits_.read);
    const read_transaction one_state(*source);
    const work_limit limit(*source, longest_lookup);
    read(*source);
  });
}

void database_session::visit_searches(
    const function_identity& function,
    const std::function<void(connection&, function_table&)>& visit,
    std::chrono::milliseconds longest) {
  attempt("read the searches of", function.name, [&] {
    connection* source = open_for_reading(waits_.read);
    if (source == nullptr) return;
    const scoped_wait wait(*source, longest);
    const read_transaction one_state(*source);
    function_table* table = find_table(*source, function);
    if (table != nullptr) visit(*source, *table);
  });
}

connection* database_session::open_for_reading(std::chrono::milliseconds wait) {
  close_if_moved();
  if (!connection_) {
    if (access_ != database_access::immutable && !is_there(path_)) return nullptr;
    connection_ = std::make_unique<connection>(path_, waits_.read, wait, access_);
  }
  const scoped_wait while_opening(*connection_, wait);
  return connection_->is_ready() ? connection_.get() : nullptr;
}

connection& database_session::open_for_writing() {
  if (!connection_) {
    connection_ = std::make_unique<connection>(path_, waits_.read, waits_.write);
  }
  return *connection_;
}

function_table* database_session::find_table(connection& source,
                                             const function_identity& function) {
  // Another process may have removed a table (tunedb prune), and one with other fields may have
  // been created.
  const std::int64_t schema_number = source.schema_number();
  if (std::exchange(schema_number_, schema_number) != schema_number) tables_.clear();
  const std::string name = table_name(function);
  const auto known = tables_.find(name);
  if (known != tables_.end() && known->second->function() == function) {
    return known->second.get();
  }
  std::unique_ptr<function_table> opened = function_table::open(source, function);
  if (!opened) return nullptr;
  return (tables_[name] = std::move(opened)).get();
}

void database_session::try_to_write() {
  const write_transaction transaction(open_for_writing(), waits_.write);
}

void database_session::write_to_table(
    const function_identity& function,
    const std::function<void(connection&, function_table&)>& write) {
  connection& target = open_for_writing();
  write_transaction transaction(target, waits_.write);
  function_table* table = find_table(target, function);
  std::unique_ptr<function_table> created;
  if (table == nullptr) {
    created = function_table::create(target, function);
    table = created.get();
  }
  write(target, *table);
  transaction.commit();
  if (created) tables_[table_name(function)] = std::move(created);
}

void database_session::write(const std::function<void(connection&)>& write) {
  connection& target = open_for_writing();
  write_transaction transaction(target, waits_.write);
  write(target);
  transaction.commit();
}

void database_session::write_to_search(search_id search,
                                       const std::function<void(connection&)>& write) {
  connection& target = open_for_writing();
  write_transaction transaction(target, waits_.write);
  require_search(target, search);
  write(target);
  transaction.commit();
}

void database_session::write_in_place(const std::function<void()>& step) {
  require_writable();
  make_file();
  const database_lock lock(path_, lock_kind::shared, waits_.write);
  make_file();  // it may have been moved meanwhile
  step();
}

void database_session::require_writable() const {
  if (access_ == database_access::read_write) return;
  throw database_failure(path_, "write to it", "it was opened for reading alone",
                         "store results in another database");
}

void database_session::require_search(connection& target, search_id search) const {
  if (has_search(target, search)) return;
  throw database_failure(path_,
                         "add to search " + std::to_string(static_cast<std::int64_t>(search)),
                         "the database has no such search", "begin another search");
}

// Includes the folder, for the lock's file.
void database_session::make_file() {
  close_if_moved();
  if (!connection_) create_private_file(path_);
}

void database_session::close() {
  tables_.clear();
  connection_.reset();
}

void database_session::close_if_moved() {
  if (connection_ && !connection_->is_in_place()) close();
}

void database_session::set_aside(const std::string& reason) {
  close();
  const auto aside = set_aside_if_damaged(path_, waits_.write);
  if (!aside) return;  // another process has moved it, or the next attempt reports the reason
  log(damage_is_known_ ? log_level::info : log_level::warning,
      "tuning database '" + path_ + "': it is damaged (" + reason + "), was moved to '" + *aside +
          "' and replaced by a new one");
  damage_is_known_ = false;
}

}  // namespace tune::detail
