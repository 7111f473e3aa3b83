// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/function_table.hpp"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Statement.h>
#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>

#include "libtune/base/log.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/store/database/column.hpp"
#include "libtune/store/database/connection.hpp"
#include "libtune/store/database/database_failure.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/store/database/identity_column.hpp"
#include "libtune/store/database/schema.hpp"

namespace tune::detail {
namespace {

const row_layout& function_layout() {
  static const never_destroyed<row_layout> layout(
      row_layout{"libtune_function", {"table_name", "name", "version", "columns"}});
  return *layout;
}

std::vector<std::string> prefixed(std::string_view prefix,
                                  const std::vector<field_description>& fields) {
  std::vector<std::string> names;
  for (const field_description& field : fields) names.push_back(std::string(prefix) + field.name);
  return names;
}

std::vector<std::string> key_columns(const function_identity& function) {
  std::vector<std::string> names = prefixed(argument_prefix, function.key_fields);
  for (const identity_column& column : identity_columns()) names.emplace_back(column.name);
  return names;
}

row_layout layout_of(const function_identity& function) {
  std::vector<std::string> names = key_columns(function);
  names.emplace_back("score_ns");
  for (std::string& name : prefixed(value_prefix, function.value_fields)) {
    names.push_back(std::move(name));
  }
  names.emplace_back("tuned_at");
  return {table_name(function), std::move(names)};
}

std::string conditions(const std::vector<std::string>& columns) {
  std::string text;
  for (const std::string& column : columns) {
    text += fmt::format("{}{} = ?", text.empty() ? " WHERE " : " AND ", quoted_name(column));
  }
  return text;
}

std::map<std::string, std::string, std::less<>> parse_columns(std::string_view description) {
  std::map<std::string, std::string, std::less<>> types;
  while (!description.empty()) {
    // By std::find, as g++ 13 warns of a second string_view::find, for a length that no text has.
    const std::string_view line(description.begin(),
                                std::find(description.begin(), description.end(), '\n'));
    description.remove_prefix(std::min(line.size() + 1, description.size()));
    const std::string_view name(line.begin(), std::find(line.begin(), line.end(), ' '));
    types.emplace(name, line.substr(std::min(name.size() + 1, line.size())));
  }
  return types;
}

/// Returns CREATE TABLE for the function's results.
std::string create_table_sql(const function_identity& function) {
  std::string text =
      fmt::format("CREATE TABLE IF NOT EXISTS {} (\n", quoted_name(table_name(function)));
  for (const field_description& field : function.key_fields) {
    text += fmt::format("  \"arg_{}\" {} NOT NULL,\n", field.name, column_type(field, true));
  }
  for (const identity_column& column : identity_columns()) {
    text += fmt::format("  {},\n", identity_column_sql(column));
  }
  for (const field_description& field : function.value_fields) {
    text += fmt::format("  \"value_{}\" {}{},\n", field.name, column_type(field, false),
                        field.optional ? "" : " NOT NULL");
  }
  return text + fmt::format(
                    "  \"score_ns\" REAL CHECK (\"score_ns\" > 0 AND \"score_ns\" < 9e999),\n"
                    "  \"tuned_at\" TEXT NOT NULL,\n"
                    "  \"checksum\" BLOB NOT NULL,\n"
                    "  PRIMARY KEY ({})\n"
                    ") STRICT, WITHOUT ROWID",
                    quoted_names(key_columns(function)));
}

/// Selects score_ns, the value_* columns, and 1 if the row is intact. Parameters: the key's fields,
/// then the device's in the order of identity_columns().
std::string find_sql(const function_identity& function) {
  const std::string table = table_name(function);
  std::vector<std::string> selected = prefixed(value_prefix, function.value_fields);
  selected.insert(selected.begin(), "score_ns");
  return fmt::format("SELECT {}, {} FROM {}{}", quoted_names(selected),
                     layout_of(function).intact(), quoted_name(table),
                     conditions(key_columns(function)));
}

/// Selects the device_* columns of all intact rows with the same key fields, which are the
/// parameters.
std::string devices_sql(const function_identity& function) {
  const std::string table = table_name(function);
  const std::string of_key = conditions(prefixed(argument_prefix, function.key_fields));
  std::vector<std::string> selected;
  for (const identity_column& column : identity_columns()) selected.emplace_back(column.name);
  return fmt::format("SELECT {} FROM {}{}{}{}", quoted_names(selected), quoted_name(table), of_key,
                     of_key.empty() ? " WHERE " : " AND ", layout_of(function).intact());
}

/// Selects the arguments, then the values, of the results of one device, the latest first.
std::string of_device_sql(const function_identity& function) {
  const std::string table = table_name(function);
  std::vector<std::string> selected = prefixed(argument_prefix, function.key_fields);
  for (std::string& column : prefixed(value_prefix, function.value_fields)) {
    selected.push_back(std::move(column));
  }
  std::vector<std::string> of_device;
  for (const identity_column& column : identity_columns()) of_device.emplace_back(column.name);
  // Checksums are slow, so they are computed only for the latest rows.
  return fmt::format(
      "SELECT {} FROM (SELECT * FROM {}{} ORDER BY \"tuned_at\" DESC LIMIT ?) WHERE {}",
      quoted_names(selected), quoted_name(table), conditions(of_device),
      layout_of(function).intact());
}

/// Stores a row, replacing one with the same key. Parameters: those of find_sql, the score, the
/// tuning's fields.
std::string store_sql(const function_identity& function) {
  return layout_of(function).insert("INSERT OR REPLACE", {{"tuned_at", current_time_sql}});
}

/// Describes the differences between two descriptions, column by column; empty if they are equal.
std::string describe_drift(std::string_view stored, std::string_view current) {
  const auto before = parse_columns(stored);
  const auto now = parse_columns(current);
  std::vector<std::string> changes;
  for (const auto& [column, type] : before) {
    const auto same = now.find(column);
    if (same == now.end()) {
      changes.push_back(fmt::format("{} is gone", column));
    } else if (same->second != type) {
      changes.push_back(fmt::format("{} was {} and is {}", column, type, same->second));
    }
  }
  for (const auto& [column, type] : now) {
    if (!before.contains(column)) changes.push_back(fmt::format("{} is new", column));
  }
  return fmt::format("{}", fmt::join(changes, ", "));
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

device_identity read_device(SQLite::Statement& select) {
  device_identity device;
  int number = 0;
  for (const identity_column& column : identity_columns()) {
    column.set(device, read_value(select.getColumn(number++), kind_of(column.get(device))));
  }
  return device;
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

std::string describe_columns(const function_identity& function) {
  std::map<std::string, std::string> lines;
  const auto add = [&](const char* prefix, const field_description& field) {
    const std::string column = prefix + field.name;
    lines[column] = fmt::format("{} {}{}\n", column, value_type_name(field.type),
                                field.optional ? " optional" : "");
  };
  for (const field_description& field : function.key_fields) add("arg_", field);
  for (const field_description& field : function.value_fields) add("value_", field);
  std::string text;
  for (const auto& [column, line] : lines) text += line;
  return text;
}

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
  SQLite::Statement known(source.database(), "SELECT name, columns, " + function_layout().intact() +
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

// The table may exist already, if its row in libtune_function was damaged.
std::unique_ptr<function_table> function_table::create(connection& target,
                                                       const function_identity& function) {
  check_field_names(function);
  target.database().exec(create_table_sql(function));
  SQLite::Statement insert(target.database(), function_layout().insert("INSERT OR REPLACE"));
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
  while (devices_->executeStep()) found.push_back(read_device(*devices_));
  return found;
}

std::vector<device_identity> function_table::devices() {
  std::vector<std::string> columns;
  for (const identity_column& column : identity_columns()) columns.emplace_back(column.name);
  SQLite::Statement select(source_, fmt::format("SELECT DISTINCT {} FROM {}", quoted_names(columns),
                                                quoted_name(table_name(function_))));
  std::vector<device_identity> found;
  try {
    while (select.executeStep()) found.push_back(read_device(select));
  } catch (const SQLite::Exception& failure) {
    if (!is_interruption(failure)) throw;
    return {};
  }
  return found;
}

std::vector<other_result> function_table::results_of(const device_identity& device,
                                                     std::size_t most) {
  // An absent value has different forms in keys and tunings.
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
