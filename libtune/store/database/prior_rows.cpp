// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/prior_rows.hpp"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <cstdint>
#include <set>
#include <sstream>
#include <utility>

#include "libtune/store/database/connection.hpp"
#include "libtune/store/database/function_table.hpp"
#include "libtune/store/database/identity_column.hpp"
#include "libtune/store/database/trial_log.hpp"

namespace tune::detail {
namespace {

/// Reads trials, the latest first, and keeps the failures.
class failure_reader {
 public:
  failure_reader(connection& source, std::string outcome)
      : source_(source),
        outcome_(std::move(outcome)),
        trials_(source.database(),
                "SELECT position, outcome, programs FROM libtune_trial "
                "WHERE search_id = ? ORDER BY position DESC") {}

  /// @param same_search  true if it is for the same key, space and stage
  void read(search_id search, bool same_search) {
    const statement_run run(trials_);
    trials_.bind(1, static_cast<std::int64_t>(search));
    while (trials_.executeStep()) {
      const bool failed = trials_.getColumn(1).getString() == outcome_;
      const std::string programs = trials_.getColumn(2).getString();
      if (!programs.empty()) {
        if (decide_programs(programs, failed)) keep(search, trials_.getColumn(0).getInt64());
      } else if (same_search) {
        decide_configuration(search, trials_.getColumn(0).getInt64(), failed);
      }
    }
  }

  std::vector<stored_trial> take() { return std::move(found_); }

 private:
  /// True if this trial is the first to decide its last program, and reports a failure. All
  /// programs before the last one did compile.
  bool decide_programs(const std::string& programs, bool failed) {
    std::istringstream words(programs);
    std::string last;
    for (std::string word; words >> word;) {
      if (!last.empty()) decided_.insert(last);
      last = word;
    }
    const bool first = decided_.insert(last).second;
    return first && failed;
  }

  void decide_configuration(search_id search, std::int64_t position, bool failed) {
    auto trial = read_trial(source_, search, position);
    if (!trial) return;
    const bool first =
        decided_.insert("configuration " + canonical_text(trial->configuration)).second;
    if (first && failed) found_.push_back(*std::move(trial));
  }

  void keep(search_id search, std::int64_t position) {
    if (auto trial = read_trial(source_, search, position)) found_.push_back(*std::move(trial));
  }

  connection& source_;
  std::string outcome_;
  SQLite::Statement trials_;
  std::set<std::string> decided_;
  std::vector<stored_trial> found_;
};

std::vector<stored_trial> read_failures(connection& source, const function_identity& function,
                                        const record_key& key, const prior_query& query) {
  failure_reader reader(source, query.failure_outcome);
  for (const search_id search :
       list_searches(source, function, key.device, query.search.compiler)) {
    reader.read(search, has_key(source, search, function, key, query.search));
  }
  return reader.take();
}

std::vector<stored_trial> read_incidents(connection& source, const function_identity& function,
                                         const record_key& key, const prior_query& query) {
  std::vector<stored_trial> found;
  SQLite::Statement select(source.database(),
                           "SELECT position FROM libtune_trial WHERE search_id = ? AND " +
                               has_outcome_sql(query.incident_outcomes.size()) +
                               " ORDER BY position DESC");
  for (const search_id search : list_searches(source, function, key, query.search)) {
    const statement_run run(select);
    select.bind(1, static_cast<std::int64_t>(search));
    int parameter = 2;
    for (const std::string& outcome : query.incident_outcomes) select.bind(parameter++, outcome);
    while (select.executeStep()) {
      auto trial = read_trial(source, search, select.getColumn(0).getInt64());
      if (trial) found.push_back(*std::move(trial));
    }
  }
  return found;
}

std::optional<stored_search> read_unfinished(connection& source, const function_identity& function,
                                             const record_key& key, int stage) {
  auto search = read_search_result(source, function, key, stage);
  if (!search || (search->finished_at && !can_be_continued(search->result))) return std::nullopt;
  search->trials = read_trials(source, search->id);
  return search;
}

}  // namespace

prior_rows read_prior_rows(connection& source, const function_table& table, const record_key& key,
                           const prior_query& query) {
  const function_identity& function = table.function();
  prior_rows rows;
  if (!query.incident_outcomes.empty()) {
    rows.incidents = read_incidents(source, function, key, query);
  }
  if (query.unfinished) {
    rows.unfinished = read_unfinished(source, function, key, query.search.stage);
  }
  if (!query.failure_outcome.empty()) rows.failures = read_failures(source, function, key, query);
  return rows;
}

}  // namespace tune::detail
