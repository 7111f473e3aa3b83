// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/prune.hpp"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Statement.h>
#include <chrono>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/store/connection.hpp"
#include "libtune/store/content_rows.hpp"
#include "libtune/store/database_failure.hpp"
#include "libtune/store/database_file.hpp"
#include "libtune/store/database_lock.hpp"
#include "libtune/store/function_list.hpp"
#include "libtune/store/row_checksum.hpp"

namespace tune {
namespace {

using detail::connection;

/// The conditions of some options, with the texts for their parameters.
struct conditions {
  std::string sql = " WHERE 1";
  std::vector<std::string> parameters{};

  void add(const std::string& condition, const std::optional<std::string>& parameter) {
    if (!parameter) return;
    sql += " AND " + condition;
    parameters.push_back(*parameter);
  }
};

std::size_t remove_rows(connection& target, const std::string& table, const conditions& which) {
  SQLite::Statement remove(target.database(),
                           "DELETE FROM " + detail::quoted_name(table) + which.sql);
  int number = 1;
  for (const std::string& parameter : which.parameters) remove.bind(number++, parameter);
  return static_cast<std::size_t>(remove.exec());
}

using search_key = std::pair<std::string, std::string>;

search_key key_of(const column_values& columns) {
  return {text_of(columns, "arguments_canonical"), text_of(columns, "device_canonical")};
}

std::size_t remove_orphans(connection& target, const function_identity& function,
                           const prune_options& options) {
  std::size_t damaged = 0;
  const function_content content = detail::read_content(target, function, false, damaged);
  std::set<search_key> present;
  for (const result_content& result : content.results) {
    present.insert(key_of(search_columns(result.arguments, result.device())));
  }
  std::size_t removed = 0;
  for (const search_content& search : content.searches) {
    if (present.contains(key_of(search.columns))) continue;
    if (options.device && search.device().name != *options.device) continue;
    if (options.before && text_of(search.columns, "started_at") >= *options.before) continue;
    SQLite::Statement remove(target.database(), "DELETE FROM libtune_search WHERE id = ?");
    remove.bind(1, search.id);
    removed += static_cast<std::size_t>(remove.exec());
  }
  return removed;
}

bool is_empty(connection& target, const std::string& table) {
  SQLite::Statement left(target.database(),
                         "SELECT EXISTS (SELECT 1 FROM " + detail::quoted_name(table) +
                             ") OR EXISTS (SELECT 1 FROM libtune_search WHERE table_name = ?)");
  left.bind(1, table);
  left.executeStep();
  return left.getColumn(0).getInt() == 0;
}

void forget(connection& target, const std::string& table) {
  SQLite::Statement remove(target.database(), "DELETE FROM libtune_function WHERE table_name = ?");
  remove.bind(1, table);
  remove.exec();
  target.database().exec("DROP TABLE " + detail::quoted_name(table));
}

void prune_function(connection& target, const function_identity& function,
                    const prune_options& options, prune_report& report) {
  const std::string table = table_name(function);
  if (options.orphans) {
    report.searches += remove_orphans(target, function, options);
  } else {
    conditions results;
    results.add("device_name = ?", options.device);
    results.add("tuned_at < ?", options.before);
    report.results += remove_rows(target, table, results);
    conditions searches;
    searches.add("table_name = ?", table);
    searches.add("device_name = ?", options.device);
    searches.add("started_at < ?", options.before);
    report.searches += remove_rows(target, "libtune_search", searches);
  }
  if (options.function && is_empty(target, table)) {
    forget(target, table);
    ++report.functions;
  }
}

}  // namespace

prune_report prune_database(const std::string& path, const prune_options& options) {
  if (!options.function && !options.device && !options.before && !options.orphans) {
    throw argument_error("nothing was said of what to remove, and all of it is too much");
  }
  constexpr std::chrono::seconds patience{10};
  const std::string file = detail::absolute_path(path);
  prune_report report;
  if (!detail::is_there(file)) return report;
  try {
    const detail::database_lock lock(file, detail::database_lock::kind::shared, patience);
    connection target(file, patience, patience);
    if (!target.is_ready()) return report;
    detail::write_transaction transaction(target, patience);
    std::size_t damaged = 0;
    for (const function_identity& function : detail::read_functions(target, damaged)) {
      if (options.function && function.name != *options.function) continue;
      if (options.version && function.version != *options.version) continue;
      prune_function(target, function, options, report);
    }
    if (!options.dry_run) transaction.commit();
  } catch (const SQLite::Exception& failure) {
    throw detail::database_failure(file, "remove rows", failure);
  }
  return report;
}

}  // namespace tune
