// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/search_notes.hpp"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <algorithm>
#include <cstdint>
#include <fmt/format.h>

#include "libtune/base/never_destroyed.hpp"
#include "libtune/store/database/connection.hpp"

namespace tune::detail {
namespace {

/// The indices into side_tables().
constexpr std::size_t course_table = 0;
constexpr std::size_t space_table = 1;
constexpr std::size_t seeds_table = 2;
constexpr std::size_t inputs_table = 3;

struct side_column {
  const char* name;
  const char* type;
  const char* comment = "";
};

side_table side_table_of(const char* name, const std::vector<side_column>& columns) {
  side_table made{.layout = {name, {"search_id"}}, .create_sql = {}};
  std::string definitions;
  for (const auto& [column, type, comment] : columns) {
    made.layout.columns.emplace_back(column);
    definitions += fmt::format("  {} {},{}{}\n", column, type, *comment ? "  -- " : "", comment);
  }
  made.create_sql = fmt::format(R"sql(
CREATE TABLE IF NOT EXISTS {} (
  search_id INTEGER PRIMARY KEY REFERENCES libtune_search (id) ON DELETE CASCADE,
{}  checksum BLOB NOT NULL
) STRICT)sql",
                                name, definitions);
  return made;
}

/// Replaces the row of a search, once its other columns are bound.
SQLite::Statement insert_note(connection& target, search_id search, std::size_t place) {
  const side_table& table = side_tables()[place];
  target.database().exec(table.create_sql);
  SQLite::Statement insert(target.database(), table.layout.insert("INSERT OR REPLACE"));
  insert.bind(1, static_cast<std::int64_t>(search));
  return insert;
}

/// Reads the row of a search; empty if it is missing or damaged.
std::optional<SQLite::Statement> read_note(connection& source, search_id search,
                                           std::size_t place) {
  const row_layout& layout = side_tables()[place].layout;
  if (!source.database().tableExists(layout.table)) return std::nullopt;
  SQLite::Statement select(source.database(), layout.select() + " WHERE search_id = ?");
  select.bind(1, static_cast<std::int64_t>(search));
  if (!select.executeStep()) return std::nullopt;
  if (select.getColumn(static_cast<int>(layout.columns.size())).getInt() != 0) return select;
  warn_of_damaged_row(source.path(), layout.table);
  return std::nullopt;
}

}  // namespace

std::span<const side_table> side_tables() {
  static const never_destroyed<std::vector<side_table>> tables(std::vector{
      side_table_of("libtune_course",
                    {{"strategy", "TEXT NOT NULL"},
                     {"ending", "TEXT NOT NULL", "why it ended; empty until it has"}}),
      side_table_of("libtune_space", {{"outline", "TEXT NOT NULL", "JSON"}}),
      side_table_of("libtune_seeds",
                    {{"is_whole", "INTEGER NOT NULL", "1: it went over the whole space"},
                     {"seeds", "INTEGER NOT NULL"},
                     {"judges", "INTEGER NOT NULL"},
                     {"expected_loss", "REAL", "0.05 is 5 %; NULL: not known"},
                     {"loss_bound", "REAL"}}),
      side_table_of("libtune_inputs", {{"inputs", "TEXT NOT NULL", "in words, with a digest"}})});
  return *tables;
}

void note_course(connection& target, search_id search, const stored_course& course) {
  SQLite::Statement insert = insert_note(target, search, course_table);
  insert.bind(2, course.strategy);
  insert.bind(3, course.ending);
  insert.exec();
}

void note_space(connection& target, search_id search, const stored_space& space) {
  SQLite::Statement insert = insert_note(target, search, space_table);
  insert.bind(2, space_to_json(space));
  insert.exec();
}

void note_seeds(connection& target, search_id search, const stored_seeds& seeds) {
  SQLite::Statement insert = insert_note(target, search, seeds_table);
  insert.bind(2, seeds.is_whole ? 1 : 0);
  insert.bind(3, static_cast<std::int64_t>(seeds.tried));
  insert.bind(4, static_cast<std::int64_t>(seeds.judges));
  if (seeds.expected_loss) insert.bind(5, *seeds.expected_loss);
  if (seeds.loss_bound) insert.bind(6, *seeds.loss_bound);
  insert.exec();
}

std::optional<stored_seeds> read_seeds(connection& source, search_id search) {
  const auto row = read_note(source, search, seeds_table);
  if (!row) return std::nullopt;
  const auto count = [&](int column) {
    return static_cast<std::size_t>(std::max<std::int64_t>(0, row->getColumn(column).getInt64()));
  };
  const auto loss = [&](int column) {
    const SQLite::Column kept = row->getColumn(column);
    return kept.isNull() ? std::optional<double>() : std::optional(kept.getDouble());
  };
  return stored_seeds{.is_whole = row->getColumn(1).getInt() != 0,
                      .tried = count(2),
                      .judges = count(3),
                      .expected_loss = loss(4),
                      .loss_bound = loss(5)};
}

void note_inputs(connection& target, search_id search, const std::string& inputs) {
  SQLite::Statement insert = insert_note(target, search, inputs_table);
  insert.bind(2, inputs);
  insert.exec();
}

std::string read_inputs(connection& source, search_id search) {
  const auto row = read_note(source, search, inputs_table);
  return row ? row->getColumn(1).getString() : std::string();
}

stored_course read_course(connection& source, search_id search) {
  const auto row = read_note(source, search, course_table);
  if (!row) return {};
  return {.strategy = row->getColumn(1).getString(), .ending = row->getColumn(2).getString()};
}

std::optional<std::size_t> read_configurations(connection& source, search_id search) {
  const auto row = read_note(source, search, space_table);
  const auto space = row ? space_from_json(row->getColumn(1).getString()) : std::nullopt;
  return space ? std::optional(space->configurations) : std::nullopt;
}

}  // namespace tune::detail
