// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/merge.hpp"

#include <SQLiteCpp/Exception.h>
#include <chrono>
#include <fmt/format.h>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/store/connection.hpp"
#include "libtune/store/content_rows.hpp"
#include "libtune/store/database_failure.hpp"
#include "libtune/store/database_file.hpp"
#include "libtune/store/database_lock.hpp"
#include "libtune/store/field_check.hpp"
#include "libtune/store/function_table.hpp"
#include "libtune/store/raw_table.hpp"

namespace tune {
namespace {

using detail::connection;
using detail::raw_table;

constexpr std::chrono::seconds patience{10};

void require_text(const column_values& columns, const char* name, const std::string& whose) {
  const auto found = columns.find(name);
  if (found == columns.end() || !std::holds_alternative<std::string>(found->second)) {
    throw argument_error(fmt::format("'{}' of '{}' is no text, or missing", name, whose));
  }
}

void check_device(const column_values& columns, const std::string& whose) {
  for (const char* name : {"device_name", "device_platform", "device_version"}) {
    require_text(columns, name, whose);
  }
}

/// What tuning_database would not store must not come in by another door.
void check_content(const function_content& content) {
  const std::string& name = content.function.name;
  static_cast<void>(table_name(content.function));
  check_field_names(content.function);
  for (const result_content& result : content.results) {
    detail::check_key(content.function.key_fields, result.arguments, name);
    detail::check_fields(content.function.value_fields, result.values, name);
    if (const auto score = result.score_ns()) detail::check_score(*score);
    check_device(result.columns, name);
    require_text(result.columns, "tuned_at", name);
  }
  for (const search_content& search : content.searches) {
    check_device(search.columns, name);
    require_text(search.columns, "arguments_canonical", name);
    for (const trial_content& trial : search.trials) {
      if (const auto score = trial.score_ns()) detail::check_score(*score);
      for (const double sample : trial.samples_ns()) detail::check_score(sample);
    }
  }
}

void merge_results(connection& target, const function_content& content, merge_report& report) {
  raw_table results(target, table_name(content.function));
  for (const result_content& result : content.results) {
    const auto present = detail::read_result(results, content.function, result);
    if (present && !wins_over(result, *present)) {
      ++report.results_kept;
      continue;
    }
    detail::write_result(results, result);
    ++(present ? report.results_replaced : report.results_added);
  }
}

void merge_searches(connection& target, const function_content& content, merge_report& report) {
  if (content.searches.empty()) return;
  std::size_t damaged = 0;
  std::set<std::string> known;
  for (const search_content& search :
       detail::read_content(target, content.function, true, damaged).searches) {
    known.insert(canonical_text(search));
  }
  // The oldest first, because the number of a search tells which is the latest.
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
  for (const auto& [started_at, text] : order) {
    detail::write_search(target, content.function, *added.at(text));
    ++report.searches_added;
  }
}

}  // namespace

merge_report merge_content(const std::string& path, const database_content& content) {
  for (const function_content& function : content.functions) check_content(function);
  const std::string file = detail::absolute_path(path);
  merge_report report;
  try {
    detail::create_private_file(file);  // with the folder, for the lock's file
    const detail::database_lock lock(file, detail::database_lock::kind::shared, patience);
    detail::create_private_file(file);  // it may have been moved meanwhile
    connection target(file, patience, patience);
    detail::write_transaction transaction(target, patience);
    for (const function_content& function : content.functions) {
      if (!detail::function_table::open(target, function.function)) {
        detail::function_table::create(target, function.function);
      }
      merge_results(target, function, report);
      merge_searches(target, function, report);
    }
    transaction.commit();
  } catch (const SQLite::Exception& failure) {
    throw detail::database_failure(file, "merge into it", failure);
  }
  return report;
}

}  // namespace tune
