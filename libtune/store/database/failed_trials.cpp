// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/failed_trials.hpp"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <optional>
#include <set>
#include <sstream>
#include <utility>

#include "libtune/store/database/connection.hpp"
#include "libtune/store/database/trial_log.hpp"

namespace tune::detail {
namespace {

/// Goes through trials, the latest first, and keeps the failures.
class failure_reader {
 public:
  failure_reader(connection& source, std::string outcome)
      : source_(source),
        outcome_(std::move(outcome)),
        trials_(source.database(),
                "SELECT position, outcome, programs FROM libtune_trial "
                "WHERE search_id = ? ORDER BY position DESC") {}

  /// @param same_search  whether it is for the same key, space and stage
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
  /// Whether nothing was known yet of the last program. All before it did compile.
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

}  // namespace

std::vector<stored_trial> read_failed_trials(connection& source, const function_identity& function,
                                             const record_key& key, const search_identity& identity,
                                             const std::string& outcome) {
  failure_reader reader(source, outcome);
  for (const search_id search : list_searches(source, function, key.device, identity.compiler)) {
    reader.read(search, has_key(source, search, function, key, identity));
  }
  return reader.take();
}

}  // namespace tune::detail
