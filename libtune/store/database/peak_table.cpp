// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/peak_table.hpp"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include "libtune/base/never_destroyed.hpp"
#include "libtune/store/database/connection.hpp"
#include "libtune/store/database/identity_column.hpp"
#include "libtune/store/database/schema.hpp"

namespace tune::detail {
namespace {

constexpr const char* create_sql = R"sql(
CREATE TABLE IF NOT EXISTS libtune_peak (
  device_canonical TEXT NOT NULL,  -- the whole identity, with the driver
  library_version TEXT NOT NULL,
  kind TEXT NOT NULL,  -- "memory", or an arithmetic
  rate REAL NOT NULL CHECK (rate > 0 AND rate < 9e999),  -- bytes or operations in a second
  device_name TEXT NOT NULL,
  device_platform TEXT NOT NULL,
  device_version TEXT NOT NULL,
  measured_at TEXT NOT NULL,
  checksum BLOB NOT NULL,
  PRIMARY KEY (device_canonical, library_version, kind)
) STRICT, WITHOUT ROWID)sql";

const row_layout& peak_layout() {
  static const never_destroyed<row_layout> layout(
      row_layout{"libtune_peak",
                 {"device_canonical", "library_version", "kind", "rate", "device_name",
                  "device_platform", "device_version", "measured_at"}});
  return *layout;
}

constexpr int rate_column = 3;
constexpr int intact_column = 8;

void bind_identity(SQLite::Statement& statement, const peak_identity& of) {
  statement.bind(1, canonical_text(of.device));
  statement.bind(2, of.library_version);
  statement.bind(3, of.kind);
}

}  // namespace

std::optional<double> read_peak(connection& source, const peak_identity& of) {
  const row_layout& layout = peak_layout();
  if (!source.database().tableExists(layout.table)) return std::nullopt;
  SQLite::Statement select(
      source.database(),
      layout.select() + " WHERE device_canonical = ? AND library_version = ? AND kind = ?");
  bind_identity(select, of);
  if (!select.executeStep()) return std::nullopt;
  if (select.getColumn(intact_column).getInt() != 0) {
    return select.getColumn(rate_column).getDouble();
  }
  warn_of_damaged_row(source.path(), layout.table);
  return std::nullopt;
}

void note_peak(connection& target, const peak_identity& of, double rate) {
  target.database().exec(create_sql);
  if (read_peak(target, of).value_or(0) >= rate) return;
  SQLite::Statement insert(
      target.database(),
      peak_layout().insert("INSERT OR REPLACE", {{"measured_at", current_time_sql}}));
  bind_identity(insert, of);
  insert.bind(4, rate);
  insert.bind(5, of.device.name);
  insert.bind(6, of.device.platform);
  insert.bind(7, of.device.driver_version);
  insert.exec();
}

std::size_t count_peaks(connection& source, std::size_t& damaged) {
  const row_layout& layout = peak_layout();
  if (!source.database().tableExists(layout.table)) return 0;
  SQLite::Statement select(source.database(), layout.select());
  std::size_t intact = 0;
  while (select.executeStep()) {
    ++(select.getColumn(intact_column).getInt() != 0 ? intact : damaged);
  }
  return intact;
}

}  // namespace tune::detail
