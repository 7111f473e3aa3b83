// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/maintenance/database_reader.hpp"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>
#include <filesystem>
#include <fmt/format.h>
#include <string_view>
#include <system_error>

#include "libtune/base/error.hpp"
#include "libtune/base/forked_process.hpp"
#include "libtune/base/seal.hpp"
#include "libtune/store/database/connection.hpp"
#include "libtune/store/database/database_failure.hpp"
#include "libtune/store/database/database_file.hpp"
#include "libtune/store/database/schema.hpp"
#include "libtune/store/database/stored_trial.hpp"
#include "libtune/store/files/file_system.hpp"
#include "libtune/store/maintenance/content_rows.hpp"
#include "libtune/store/maintenance/raw_table.hpp"

namespace tune {
namespace {

using detail::connection;
using detail::raw_table;

std::size_t count(connection& source, const std::string& from, const std::string& table) {
  SQLite::Statement query(source.database(), "SELECT count(*) FROM " + from);
  if (!table.empty()) query.bind(1, table);
  query.executeStep();
  return static_cast<std::size_t>(query.getColumn(0).getInt64());
}

std::vector<device_identity> devices_of(connection& source, const std::string& table) {
  SQLite::Statement query(source.database(),
                          "SELECT DISTINCT device_name, device_platform, device_version FROM " +
                              detail::quoted_name(table));
  std::vector<device_identity> devices;
  while (query.executeStep()) {
    devices.push_back({query.getColumn(0).getString(), query.getColumn(1).getString(),
                       query.getColumn(2).getString()});
  }
  return devices;
}

function_summary summarise(connection& source, const function_identity& function) {
  const std::string table = table_name(function);
  return {.function = function,
          .results = count(source, detail::quoted_name(table), {}),
          .searches = count(source, "libtune_search WHERE table_name = ?", table),
          .trials = count(source,
                          "libtune_trial JOIN libtune_search ON search_id = id "
                          "WHERE table_name = ?",
                          table),
          .devices = devices_of(source, table)};
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

  /// Runs step(connection) on one state of the database, and turns what SQLite reports into a
  /// database_error. Not run where there is no database.
  template <class Step>
  auto attempt_reading(const std::string& what, Step step) {
    return attempt(what, [&]() -> decltype(step(*connection_)) {
      if (open() == nullptr) return {};
      const SQLite::Transaction one_state(connection_->database());
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

function_content database_reader::read(const function_identity& function, bool with_trials) {
  return impl_->attempt_reading("read '" + function.name + "'", [&](connection& source) {
    return detail::read_content(source, function, with_trials, impl_->damaged);
  });
}

function_content database_reader::read_key(const function_identity& function,
                                           const record_key& key) {
  return impl_->attempt_reading("read a key of '" + function.name + "'", [&](connection& source) {
    return detail::read_content(source, function, true, impl_->damaged, &key);
  });
}

trials_summary database_reader::summarise_trials(std::int64_t search) {
  return impl_->attempt_reading("look at a search", [&](connection& source) {
    trials_summary summary;
    SQLite::Statement outcomes(source.database(),
                               "SELECT outcome, count(*), max(made_at) FROM libtune_trial "
                               "WHERE search_id = ? GROUP BY outcome ORDER BY count(*) DESC");
    outcomes.bind(1, search);
    while (outcomes.executeStep()) {
      summary.outcomes.push_back({outcomes.getColumn(0).getString(),
                                  static_cast<std::size_t>(outcomes.getColumn(1).getInt64()),
                                  outcomes.getColumn(2).getString()});
    }
    SQLite::Statement best(source.database(),
                           "SELECT configuration, score_ns FROM libtune_trial WHERE search_id = ? "
                           "AND score_ns IS NOT NULL ORDER BY score_ns LIMIT 1");
    best.bind(1, search);
    if (best.executeStep()) {
      summary.best = detail::configuration_from_json(best.getColumn(0).getString());
      summary.best_ns = best.getColumn(1).getDouble();
    }
    return summary;
  });
}

database_content database_reader::read_all() {
  return impl_->attempt_reading("read all of it", [&](connection& source) {
    database_content content;
    for (const function_identity& function : detail::read_functions(source, impl_->damaged)) {
      content.functions.push_back(detail::read_content(source, function, true, impl_->damaged));
    }
    return content;
  });
}

namespace {

// A journal would be rolled back into the file that takes the place of its own.
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
    throw argument_error("'" + target + "' is a database in use, or was when its program ended: '" +
                         target + suffix + "' is there; name another file");
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
