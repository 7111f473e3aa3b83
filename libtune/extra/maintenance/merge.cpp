// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/maintenance/merge.hpp"

#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Savepoint.h>
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <sqlite3.h>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/extra/maintenance/content_rows.hpp"
#include "libtune/extra/maintenance/raw_table.hpp"
#include "libtune/extra/maintenance/written_rows.hpp"
#include "libtune/store/database/column.hpp"
#include "libtune/store/database/connection.hpp"
#include "libtune/store/database/database_failure.hpp"
#include "libtune/store/database/database_file.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/store/database/function_table.hpp"
#include "libtune/store/database/identity_column.hpp"

namespace tune {
namespace {

using detail::connection;
using detail::raw_table;

void require_text(const column_values& columns, const char* name, const std::string& whose) {
  const auto found = columns.find(name);
  if (found == columns.end() || !std::holds_alternative<std::string>(found->second)) {
    throw argument_error(fmt::format("'{}' of '{}' is missing, or not a text", name, whose));
  }
}

/// Name, platform and driver are required; other missing columns are unknown.
void check_device(const column_values& columns, const std::string& whose) {
  for (const char* name : {"device_name", "device_platform", "device_version"}) {
    require_text(columns, name, whose);
  }
  for (const identity_column& column : identity_columns()) {
    const auto found = columns.find(column.name);
    if (found == columns.end() || std::holds_alternative<std::monostate>(found->second)) continue;
    const bool is_text = std::holds_alternative<std::string>(column.get({}));
    const auto* number = std::get_if<std::int64_t>(&found->second);
    if (is_text) require_text(columns, column.name, whose);
    if (!is_text && (number == nullptr || *number < 0)) {
      throw argument_error(
          fmt::format("'{}' of '{}' is not valid: it has to be a whole number, zero "
                      "if it is unknown",
                      column.name, whose));
    }
  }
}

// The same checks as in tuning_database.
void check_result(const function_identity& function, const result_content& result) {
  detail::check_key(function.key_fields, result.arguments, function.name);
  detail::check_fields(function.value_fields, result.values, function.name);
  if (const auto score = result.score_ns()) detail::check_score(*score);
  check_device(result.columns, function.name);
  require_text(result.columns, "tuned_at", function.name);
}

void check_search(const function_identity& function, const search_content& search) {
  check_device(search.columns, function.name);
  require_text(search.columns, "arguments_canonical", function.name);
  require_text(search.columns, "device_canonical", function.name);
  for (const trial_content& trial : search.trials) {
    if (const auto score = trial.score_ns()) detail::check_score(*score);
    for (const double sample : trial.samples_ns()) detail::check_score(sample);
  }
}

void leave(merge_report& report, std::size_t count, const function_identity& function,
           const std::string& reason) {
  report.left += count;
  add_reason(report.reasons,
             fmt::format("{}, version {}: {}", function.name, function.version, reason));
}

bool is_of_the_row(const SQLite::Exception& failure) {
  const int kind = failure.getErrorCode() & 0xff;
  return kind == SQLITE_CONSTRAINT || kind == SQLITE_MISMATCH || kind == SQLITE_TOOBIG;
}

/// Runs take(), which checks and writes one result or search. If that fails, it is rolled back and
/// reported.
template <class Take>
void take_or_leave(connection& target, const function_identity& function, merge_report& report,
                   Take take) {
  try {
    SQLite::Savepoint one(target.database(), "one");
    take();
    one.release();
  } catch (const argument_error& unfit) {
    leave(report, 1, function, unfit.what());
  } catch (const SQLite::Exception& refused) {
    if (!is_of_the_row(refused)) throw;
    leave(report, 1, function, refused.what());
  }
}

void merge_results(connection& target, const function_content& content, merge_winner winner,
                   merge_report& report) {
  raw_table results(target, table_name(content.function));
  const bool by_time = own_name(content.function.name) == content.function.name;
  for (const result_content& result : content.results) {
    take_or_leave(target, content.function, report, [&] {
      check_result(content.function, result);
      const auto present = detail::read_result(results, content.function, result);
      const bool stays = winner == merge_winner::incoming
                             ? present && canonical_text(*present) == canonical_text(result)
                             : present && !wins_over(result, *present, by_time);
      if (stays) {
        ++report.results_kept;
        return;
      }
      detail::write_result(results, result);
      ++(present ? report.results_replaced : report.results_added);
    });
  }
}

std::string key_of(const search_content& search) {
  return text_of(search.columns, "arguments_canonical") + '\n' +
         text_of(search.columns, "device_canonical");
}

/// Removes a search that the incoming ones replace.
void remove_search(connection& target, const search_content& search) {
  SQLite::Statement remove(target.database(), "DELETE FROM libtune_search WHERE id = ?");
  remove.bind(1, search.id);
  remove.exec();
}

/// Returns the present searches for the keys of the incoming ones, as texts. Removes those that the
/// incoming ones replace.
std::set<std::string> known_searches(connection& target, detail::search_tables& tables,
                                     const function_content& content, merge_winner winner) {
  std::set<std::string> incoming;
  if (winner == merge_winner::incoming) {
    for (const search_content& search : content.searches) incoming.insert(canonical_text(search));
  }
  std::size_t damaged = 0;
  std::set<std::string> keys;
  std::set<std::string> known;
  for (const search_content& search : content.searches) {
    if (!keys.insert(key_of(search)).second) continue;
    for (const search_content& present :
         detail::read_searches_like(tables, content.function, search, damaged)) {
      const auto text = known.insert(canonical_text(present)).first;
      if (winner == merge_winner::incoming && !incoming.contains(*text)) {
        remove_search(target, present);
      }
    }
  }
  return known;
}

void merge_searches(connection& target, const function_content& content, merge_winner winner,
                    merge_report& report) {
  if (content.searches.empty()) return;
  std::optional<detail::search_tables> tables(std::in_place, target);
  const std::set<std::string> known = known_searches(target, *tables, content, winner);
  // The oldest first, because the number of a search determines which is the latest.
  std::set<std::pair<std::string, std::string>> order;
  std::map<std::string, const search_content*> added;
  for (const search_content& search : content.searches) {
    std::string text = canonical_text(search);
    if (!known.contains(text) && added.emplace(text, &search).second) {
      order.emplace(text_of(search.columns, "started_at"), std::move(text));
    } else {
      ++report.searches_known;
    }
  }
  for (const auto& each : order) {
    const std::size_t left = report.left;
    take_or_leave(target, content.function, report, [&] {
      const search_content& search = *added.at(each.second);
      check_search(content.function, search);
      detail::write_search(target, *tables, content.function, search);
      ++report.searches_added;
    });
    if (report.left != left) tables.emplace(target);  // a rollback removes new tables
  }
}

/// Creates the function's table if needed. @returns true if there is one that fits
bool prepare_table(connection& target, const function_content& content, merge_report& report) {
  const function_identity& function = content.function;
  const std::size_t count = content.results.size() + content.searches.size();
  try {
    check_field_names(function);
    if (!detail::function_table::open(target, function)) {
      detail::function_table::create(target, function);
    }
    return true;
  } catch (const argument_error& unfit) {
    leave(report, count, function, unfit.what());
  } catch (const schema_drift_error& drift) {
    leave(report, count, function, drift.what());
  }
  return false;
}

}  // namespace

void add_reason(std::vector<std::string>& reasons, std::string reason) {
  constexpr std::size_t most = 100;
  if (reasons.size() > most || std::ranges::find(reasons, reason) != reasons.end()) return;
  reasons.push_back(reasons.size() < most ? std::move(reason)
                                          : "there are more reasons than these");
}

merge_report merge_content(const std::string& path, const database_content& content,
                           merge_winner winner) {
  const std::string file = detail::absolute_path(path);
  merge_report report;
  try {
    detail::create_private_file(file);  // includes the folder, for the lock's file
    const detail::database_lock lock(file, detail::lock_kind::shared, detail::tool_wait);
    detail::create_private_file(file);  // it may have been moved meanwhile
    connection target(file, detail::tool_wait, detail::tool_wait);
    detail::write_transaction transaction(target, detail::tool_wait);
    for (const function_content& function : content.functions) {
      if (!prepare_table(target, function, report)) continue;
      merge_results(target, function, winner, report);
      merge_searches(target, function, winner, report);
    }
    transaction.commit();
  } catch (const SQLite::Exception& failure) {
    throw detail::database_failure(file, "merge into it", failure);
  }
  return report;
}

}  // namespace tune
