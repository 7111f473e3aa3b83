// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/poisonous_trials.hpp"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>

#include "libtune/store/connection.hpp"
#include "libtune/store/trial_log.hpp"

namespace tune::detail {
namespace {

std::string sql_for(std::size_t outcomes) {
  std::string marks;
  for (std::size_t i = 0; i < outcomes; ++i) marks += i == 0 ? "?" : ", ?";
  return "SELECT position FROM libtune_trial WHERE search_id = ? AND remembered = 0 AND outcome IN "
         "(" +
         marks + ") ORDER BY position DESC";
}

}  // namespace

std::vector<stored_trial> read_poisonous_trials(connection& source,
                                                const function_identity& function,
                                                const record_key& key,
                                                const search_identity& identity,
                                                std::span<const std::string> outcomes) {
  std::vector<stored_trial> found;
  std::set<std::string> seen;
  SQLite::Statement select(source.database(), sql_for(outcomes.size()));
  for (const search_id search : list_searches(source, function, key, identity)) {
    const statement_run run(select);
    int place = 1;
    select.bind(place++, static_cast<std::int64_t>(search));
    for (const std::string& outcome : outcomes) select.bind(place++, outcome);
    while (select.executeStep()) {
      auto trial = read_trial(source, search, select.getColumn(0).getInt64());
      if (!trial || !seen.insert(canonical_text(trial->configuration)).second) continue;
      found.push_back(*std::move(trial));
    }
  }
  return found;
}

}  // namespace tune::detail
