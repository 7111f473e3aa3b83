// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/shared/result_provenance.hpp"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Statement.h>

#include "libtune/base/never_destroyed.hpp"
#include "libtune/extra/maintenance/content_rows.hpp"
#include "libtune/extra/maintenance/written_rows.hpp"
#include "libtune/store/database/connection.hpp"
#include "libtune/store/database/database_failure.hpp"
#include "libtune/store/database/database_file.hpp"
#include "libtune/store/database/identity_column.hpp"
#include "libtune/store/database/schema.hpp"
#include "libtune/store/database/trial_log.hpp"

namespace tune {
namespace {

const detail::row_layout& source_layout() {
  static const detail::never_destroyed<detail::row_layout> layout(
      detail::row_layout{"libtune_source",
                         {"table_name", "arguments_canonical", "device_canonical", "store",
                          "pushed_by", "pushed_from", "pushed_at", "pulled_at"}});
  return *layout;
}

void bind_key(SQLite::Statement& statement, const function_identity& function,
              const record_key& key) {
  statement.bind(1, table_name(function));
  statement.bind(2, detail::canonical_arguments(key.arguments));
  statement.bind(3, canonical_text(key.device));
}

}  // namespace

void note_sources(const std::string& path, const std::vector<sourced_result>& results) {
  detail::change_database(path, "note where results are from", [&](detail::connection& target) {
    target.database().exec(R"sql(
CREATE TABLE IF NOT EXISTS libtune_source (
  table_name TEXT NOT NULL,
  arguments_canonical TEXT NOT NULL,
  device_canonical TEXT NOT NULL,
  store TEXT NOT NULL,
  pushed_by TEXT NOT NULL,
  pushed_from TEXT NOT NULL,
  pushed_at TEXT NOT NULL,
  pulled_at TEXT NOT NULL,
  checksum BLOB NOT NULL,
  PRIMARY KEY (table_name, arguments_canonical, device_canonical)
) STRICT)sql");
    SQLite::Statement insert(
        target.database(),
        source_layout().insert("INSERT OR REPLACE", {{"pulled_at", detail::current_time_sql}}));
    for (const sourced_result& one : results) {
      insert.reset();
      bind_key(insert, one.function, one.key);
      insert.bind(4, one.source.store);
      insert.bind(5, one.source.pushed_by);
      insert.bind(6, one.source.pushed_from);
      insert.bind(7, one.source.pushed_at);
      insert.exec();
    }
    return true;
  });
}

std::optional<result_provenance> find_source(const std::string& path,
                                             const function_identity& function,
                                             const record_key& key) {
  const std::string file = detail::absolute_path(path);
  if (!detail::is_there(file)) return std::nullopt;
  try {
    detail::connection source(file, detail::tool_wait, detail::tool_wait,
                              database_access::read_only);
    if (!source.is_ready() || !source.database().tableExists("libtune_source")) return std::nullopt;
    SQLite::Statement select(source.database(),
                             source_layout().select() +
                                 " WHERE table_name = ? AND "
                                 "arguments_canonical = ? AND device_canonical = ?");
    bind_key(select, function, key);
    if (!select.executeStep() || select.getColumn(8).getInt() == 0) return std::nullopt;
    return result_provenance{.store = select.getColumn(3).getString(),
                             .pushed_by = select.getColumn(4).getString(),
                             .pushed_from = select.getColumn(5).getString(),
                             .pushed_at = select.getColumn(6).getString(),
                             .pulled_at = select.getColumn(7).getString()};
  } catch (const SQLite::Exception& failure) {
    throw detail::database_failure(file, "read where a result is from", failure);
  }
}

}  // namespace tune
