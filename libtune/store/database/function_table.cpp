// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/function_table.hpp"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Statement.h>
#include <algorithm>
#include <fmt/format.h>

#include "libtune/base/log.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/store/database/column.hpp"
#include "libtune/store/database/connection.hpp"
#include "libtune/store/database/database_failure.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/store/database/identity_column.hpp"
#include "libtune/store/database/row_checksum.hpp"
#include "libtune/store/database/schema.hpp"

namespace tune::detail {
namespace {

const std::vector<std::string>& function_columns() {
  static const never_destroyed<std::vector<std::string>> columns(
      std::vector<std::string>{"table_name", "name", "version", "columns"});
  return *columns;
}

/// Binds a key's fields and returns the number of the next parameter.
int bind_arguments(SQLite::Statement& statement, const std::vector<named_value>& arguments) {
  int parameter = 1;
  for (const named_value& argument : arguments) {
    bind_key_value(statement, parameter++, argument.value);
  }
  return parameter;
}

int bind_key(SQLite::Statement& statement, const std::vector<named_value>& arguments,
             const device_identity& device) {
  int parameter = bind_arguments(statement, arguments);
  for (const identity_column& column : identity_columns()) {
    bind_value(statement, parameter++, column.get(device));
  }
  return parameter;
}

other_result read_other(SQLite::Statement& select, const function_identity& function) {
  other_result result;
  int column = 0;
  for (const field_description& field : function.key_fields) {
    result.arguments.push_back({field.name, read_field(select.getColumn(column++), field)});
  }
  for (const field_description& field : function.value_fields) {
    result.values.push_back({field.name, read_field(select.getColumn(column++), field)});
  }
  return result;
}

}  // namespace

void check_drift(const connection& source, const function_identity& function,
                 const std::string& stored, const std::string& current) {
  const std::string drift = describe_drift(stored, current);
  if (drift.empty()) return;
  throw schema_drift_error(fmt::format(
      "tuning database '{}': the results of '{}', version {}, were stored with other fields than "
      "it has now: {}; raise the version of the autotune function, or, if they were imported as "
      "another type, remove them (tunedb prune --function {}) and import them with --type",
      source.path(), function.name, function.version, drift, table_name(function)));
}

std::unique_ptr<function_table> function_table::open(connection& source,
                                                     const function_identity& function) {
  SQLite::Statement known(source.database(), "SELECT name, columns, " +
                                                 is_intact("libtune_function", function_columns()) +
                                                 " FROM libtune_function WHERE table_name = ?");
  known.bind(1, table_name(function));
  if (!known.executeStep()) return nullptr;
  if (known.getColumn(2).getInt() == 0) {
    warn_of_damaged_row(source.path(), "libtune_function");
    return nullptr;
  }
  const std::string name = known.getColumn(0).getString();
  if (name != function.name) {
    throw database_failure(source.path(), "tell '" + function.name + "' from '" + name + "'",
                           "their names differ only in case, and tables are named without regard "
                           "to case",
                           "rename one of the autotune functions");
  }
  check_drift(source, function, known.getColumn(1).getString(), describe_columns(function));
  return std::unique_ptr<function_table>(new function_table(source, function));
}

// The table is there already if what libtune_function said of it was damaged.
std::unique_ptr<function_table> function_table::create(connection& target,
                                                       const function_identity& function) {
  check_field_names(function);
  target.database().exec(create_table_sql(function));
  SQLite::Statement insert(
      target.database(),
      insert_row_sql("INSERT OR REPLACE", "libtune_function", function_columns()));
  insert.bind(1, table_name(function));
  insert.bind(2, function.name);
  insert.bind(3, function.version);
  insert.bind(4, describe_columns(function));
  insert.exec();
  return std::unique_ptr<function_table>(new function_table(target, function));
}

function_table::function_table(connection& source, const function_identity& function)
    : path_(source.path()),
      source_(source.database()),
      function_(function),
      find_(std::make_unique<SQLite::Statement>(source.database(), find_sql(function))),
      devices_(std::make_unique<SQLite::Statement>(source.database(), devices_sql(function))),
      store_(std::make_unique<SQLite::Statement>(source.database(), store_sql(function))) {}

function_table::~function_table() = default;

std::optional<record> function_table::find(const std::vector<named_value>& arguments,
                                           const device_identity& device) {
  const statement_run run(*find_);
  bind_key(*find_, arguments, device);
  if (!find_->executeStep()) return std::nullopt;
  if (find_->getColumn(find_->getColumnCount() - 1).getInt() == 0) {
    warn_of_damaged_row(path_, table_name(function_));
    return std::nullopt;
  }
  record found;
  found.database = path_;
  found.device = device;
  const SQLite::Column score = find_->getColumn(0);
  if (!score.isNull()) found.score_ns = score.getDouble();
  int column = 1;
  for (const field_description& field : function_.value_fields) {
    found.values.push_back({field.name, read_field(find_->getColumn(column++), field)});
  }
  return found;
}

std::vector<device_identity> function_table::devices(const std::vector<named_value>& arguments) {
  const statement_run run(*devices_);
  bind_arguments(*devices_, arguments);
  std::vector<device_identity> found;
  while (devices_->executeStep()) {
    device_identity device;
    int number = 0;
    for (const identity_column& column : identity_columns()) {
      column.set(device, read_value(devices_->getColumn(number++), kind_of(column.get(device))));
    }
    found.push_back(std::move(device));
  }
  return found;
}

std::vector<other_result> function_table::results_of(const device_identity& device,
                                                     std::size_t most) {
  // How a key keeps an absent value is not how a value does.
  if (std::ranges::any_of(function_.key_fields, &field_description::optional)) return {};
  SQLite::Statement select(source_, of_device_sql(function_));
  int parameter = 1;
  for (const identity_column& column : identity_columns()) {
    bind_value(select, parameter++, column.get(device));
  }
  select.bind(parameter, static_cast<std::int64_t>(most));
  std::vector<other_result> found;
  try {
    while (select.executeStep()) found.push_back(read_other(select, function_));
  } catch (const SQLite::Exception& failure) {
    if (!is_interruption(failure)) throw;
    log(log_level::debug, fmt::format("tuning database '{}': too many results of '{}' to look for "
                                      "those of similar arguments",
                                      path_, function_.name));
    return {};
  }
  return found;
}

void function_table::store(const record_key& key, const std::vector<named_value>& values,
                           std::optional<double> score_ns) {
  const statement_run run(*store_);
  int parameter = bind_key(*store_, key.arguments, key.device);
  if (score_ns) {
    store_->bind(parameter++, *score_ns);
  } else {
    store_->bind(parameter++);  // NULL
  }
  for (const named_value& item : values) bind_value(*store_, parameter++, item.value);
  store_->exec();
}

}  // namespace tune::detail
