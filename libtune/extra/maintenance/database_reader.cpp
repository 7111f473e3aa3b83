// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/maintenance/database_reader.hpp"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Statement.h>
#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <string_view>
#include <system_error>

#include "libtune/base/error.hpp"
#include "libtune/base/forked_process.hpp"
#include "libtune/base/seal.hpp"
#include "libtune/extra/maintenance/content_rows.hpp"
#include "libtune/extra/maintenance/raw_table.hpp"
#include "libtune/store/database/connection.hpp"
#include "libtune/store/database/database_failure.hpp"
#include "libtune/store/database/database_file.hpp"
#include "libtune/store/database/schema.hpp"
#include "libtune/store/database/stored_trial.hpp"
#include "libtune/store/files/file_system.hpp"

namespace tune {
namespace {

using detail::connection;
using detail::raw_table;

std::size_t count_trials(SQLite::Statement& count, std::int64_t search) {
  const detail::statement_run run(count);
  count.bind(1, search);
  count.executeStep();
  return static_cast<std::size_t>(count.getColumn(0).getInt64());
}

function_summary summarise(connection& source, const function_identity& function) {
  const std::string table = table_name(function);
  function_summary summary{.function = function};
  raw_table results(source, table);
  results.scan({"device_name", "device_platform", "device_version"}, {},
               [&](SQLite::Statement& row) {
                 ++summary.results;
                 device_identity device{row.getColumn(0).getString(), row.getColumn(1).getString(),
                                        row.getColumn(2).getString()};
                 auto& known = summary.devices;
                 if (std::ranges::find(known, device) == known.end()) known.push_back(device);
               });
  std::vector<std::int64_t> searches;
  raw_table(source, "libtune_search")
      .scan({"id"}, {detail::bind_column("table_name", table)},
            [&](SQLite::Statement& row) { searches.push_back(row.getColumn(0).getInt64()); });
  summary.searches = searches.size();
  SQLite::Statement trials(source.database(),
                           "SELECT count(*) FROM libtune_trial WHERE search_id = ?");
  for (const std::int64_t search : searches) summary.trials += count_trials(trials, search);
  return summary;
}

trials_summary summarise(connection& source, std::int64_t search) {
  trials_summary summary;
  std::string best;
  raw_table(source, "libtune_trial")
      .scan({"outcome", "made_at", "score_ns", "configuration"},
            {detail::bind_column("search_id", search)}, [&](SQLite::Statement& row) {
              const std::string outcome = row.getColumn(0).getString();
              auto found = std::ranges::find(summary.outcomes, outcome, &outcome_summary::outcome);
              if (found == summary.outcomes.end()) {
                found = summary.outcomes.insert(found, {.outcome = outcome});
              }
              ++found->trials;
              found->latest = std::max(found->latest, row.getColumn(1).getString());
              if (row.getColumn(2).isNull()) return;
              const double score = row.getColumn(2).getDouble();
              if (summary.best_ns && score >= *summary.best_ns) return;
              summary.best_ns = score;
              best = row.getColumn(3).getString();
            });
  std::ranges::stable_sort(summary.outcomes, std::greater(), &outcome_summary::trials);
  if (summary.best_ns) summary.best = detail::configuration_from_json(best);
  return summary;
}

}  // namespace

class database_reader::implementation {
 public:
  implementation(const std::string& path, database_access access)
      : path_(detail::absolute_path(path)), access_(access) {}

  template <class Step>
  auto attempt(const std::string& what, Step step) {
    const auto asked = [&] { return what + " in the tuning database '" + path_ + "'"; };
    detail::refuse_if_forked(asked);
    detail::check_seal(sealed_action::database, asked);
    try {
      return step();
    } catch (const SQLite::Exception& failure) {
      throw detail::database_failure(path_, what, failure);
    }
  }

  bool has_tables() {
    return attempt("read it", [&] { return open() != nullptr; });
  }

  /// Runs step(connection), and converts errors of SQLite to a database_error. Does nothing if
  /// there is no database.
  template <class Step>
  auto attempt_reading(const std::string& what, Step step) {
    return attempt(what, [&]() -> decltype(step(*connection_)) {
      if (open() == nullptr) return {};
      return step(*connection_);
    });
  }

  std::size_t damaged = 0;

 private:
  connection* open() {
    if (!connection_) {
      if (!detail::is_there(path_)) return nullptr;
      connection_ =
          std::make_unique<connection>(path_, detail::tool_wait, detail::tool_wait, access_);
    }
    return connection_->is_ready() ? connection_.get() : nullptr;
  }

  const std::string path_;
  const database_access access_;
  std::unique_ptr<connection> connection_;
};

database_reader::database_reader(const std::string& path, database_access access)
    : impl_(std::make_unique<implementation>(path, access)) {}

// SQLite forbids a forked process even to close what its parent opened.
database_reader::~database_reader() {
  if (detail::is_forked()) static_cast<void>(impl_.release());
}

bool database_reader::has_tables() { return impl_->has_tables(); }
std::size_t database_reader::damaged() const noexcept { return impl_->damaged; }

std::vector<function_summary> database_reader::functions() {
  return impl_->attempt_reading("list the functions", [&](connection& source) {
    std::vector<function_summary> all;
    for (const function_identity& function : detail::read_functions(source, impl_->damaged)) {
      all.push_back(summarise(source, function));
    }
    return all;
  });
}

std::vector<function_identity> database_reader::identities() {
  return impl_->attempt_reading("list the functions", [&](connection& source) {
    return detail::read_functions(source, impl_->damaged);
  });
}

void database_reader::for_each_result(const function_identity& function, const row_choice& choice,
                                      const std::function<void(result_content&)>& visit) {
  impl_->attempt_reading("read the results of '" + function.name + "'", [&](connection& source) {
    detail::for_each_result(source, function, choice, impl_->damaged, visit);
    return true;
  });
}

std::optional<result_content> database_reader::any_result(const function_identity& function,
                                                          const row_choice& choice) {
  const std::string what = "read a result of '" + function.name + "'";
  return impl_->attempt_reading(
      what, [&](connection& source) { return detail::first_result(source, function, choice); });
}

std::vector<std::int64_t> database_reader::find_searches(const function_identity& function,
                                                         const row_choice& choice) {
  const std::string what = "find the searches of '" + function.name + "'";
  return impl_->attempt_reading(
      what, [&](connection& source) { return detail::find_searches(source, function, choice); });
}

std::vector<std::int64_t> database_reader::find_open_searches(const function_identity& function) {
  const std::string what = "find the unfinished searches of '" + function.name + "'";
  return impl_->attempt_reading(
      what, [&](connection& source) { return detail::find_open_searches(source, function); });
}

std::optional<search_content> database_reader::read_search(std::int64_t number, bool with_trials) {
  return impl_->attempt_reading("read a search", [&](connection& source) {
    detail::search_tables tables(source);
    return detail::read_search(tables, number, with_trials, impl_->damaged);
  });
}

function_content database_reader::read(const function_identity& function) {
  return impl_->attempt_reading("read '" + function.name + "'", [&](connection& source) {
    return detail::read_content(source, function, impl_->damaged);
  });
}

function_content database_reader::read_key(const function_identity& function,
                                           const record_key& key) {
  return impl_->attempt_reading("read a key of '" + function.name + "'", [&](connection& source) {
    return detail::read_content(source, function, impl_->damaged, &key);
  });
}

trials_summary database_reader::summarise_trials(std::int64_t search) {
  return impl_->attempt_reading("look at a search",
                                [&](connection& source) { return summarise(source, search); });
}

database_content database_reader::read_all() {
  return impl_->attempt_reading("read all of it", [&](connection& source) {
    database_content content;
    for (const function_identity& function : detail::read_functions(source, impl_->damaged)) {
      content.functions.push_back(detail::read_content(source, function, impl_->damaged));
    }
    return content;
  });
}

namespace {

// A journal would be rolled back into the new file of that name.
void check_target(const std::string& file, const std::string& target) {
  if (detail::belongs_to_database(target, file)) {
    throw argument_error("'" + target +
                         "' is the database itself, or belongs to it; name another file");
  }
  std::error_code ignored;
  const auto found = std::filesystem::status(target, ignored);
  if (std::filesystem::exists(found) && !std::filesystem::is_regular_file(found)) {
    throw argument_error("'" + target + "' is no file that a backup could replace; name another");
  }
  for (const char* suffix : {"-journal", "-wal"}) {
    if (!detail::is_there(target + suffix)) continue;
    throw argument_error(
        fmt::format("'{0}' is a database in use, or was when its program ended: '{0}{1}' is there; "
                    "name another file",
                    target, suffix));
  }
}

}  // namespace

void back_up_database(const std::string& path, const std::string& to) {
  const std::string file = detail::absolute_path(path);
  const std::string target = detail::absolute_path(to);
  check_target(file, target);
  if (!detail::is_there(file)) {
    throw detail::database_failure(file, "back it up", "there is no such file", "tune first");
  }
  detail::connection source(file, detail::tool_wait, detail::tool_wait);
  replace_file_by(target, [&](const std::string& name) {
    try {
      SQLite::Statement vacuum(source.database(), "VACUUM INTO ?");
      vacuum.bind(1, name);
      vacuum.exec();
    } catch (const SQLite::Exception& failure) {
      throw detail::database_failure(file, "back it up to '" + target + "'", failure);
    }
  });
}

}  // namespace tune
