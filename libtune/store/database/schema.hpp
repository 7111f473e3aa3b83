// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// The rows of a database, the tables that every database has, and the marks by which a file says
// that it is a tuning database, and of which version.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/store/database/database_failure.hpp"

namespace SQLite {
class Database;
}

namespace tune::detail {

// A disk, a cable or a hand can change a value so that SQLite does not notice. Every row therefore
// carries a checksum, in its column "checksum": the first 16 bytes of the SHA-256 of
//
//   <table>(<column>,...,)  then for each column  n; | i<decimal>; | f<hexadecimal>; |
//                                                t<bytes>:<text>; | b<bytes>:<blob>;
//
// over all other columns in the order of the bytes of their names; after every hundred columns the
// checksum so far is put in place of what was before. A row whose checksum is wrong counts as
// missing: it is never a result, and the next one takes its place. Databases hold checksums: a
// change needs a new version of the file format.

/// A column, and the expression for its value in a statement: a parameter, or its own name.
struct column_term {
  std::string column;
  std::string expression;
};

/// The columns of a table in a fixed order, the checksum apart, and the statements that read and
/// write its rows. All readers and writers of rows stand on it.
struct row_layout {
  std::string table{};
  std::vector<std::string> columns{};

  /// A condition that holds for a row whose checksum is right; never NULL.
  std::string intact() const;
  /// "SELECT <columns>, <intact> FROM <table>": the n-th column of a row is the n-th here, and 1 or
  /// 0 comes after the last.
  std::string select() const;
  /// "<verb> INTO <table> (<columns>, checksum) VALUES (...)". The n-th column takes the parameter
  /// ?n, or the expression given for it.
  /// @param verb  "INSERT" or "INSERT OR REPLACE"
  std::string insert(std::string_view verb, const std::vector<column_term>& computed = {}) const;
  /// "UPDATE <table> SET <changed>, checksum = ...".
  std::string update(const std::vector<column_term>& changed) const;

 private:
  std::vector<column_term> terms(const std::vector<column_term>& given) const;
};

/// Makes the function libtune_checksum known to a connection, for statements of its own only.
void register_row_checksum(SQLite::Database& database);

/// A name between double quotes, whatever is in it.
std::string quoted_name(std::string_view name);
/// The quoted names, with commas between them.
std::string quoted_names(const std::vector<std::string>& names);

/// The expression for a row's checksum. @param terms  all columns but the checksum, in any order
std::string checksum_expression(std::string_view table, std::vector<column_term> terms);

/// Warns, once for each table in a process, of a row that is left out.
void warn_of_damaged_row(const std::string& path, std::string_view table);

/// Marks a file as a tuning database: "ltun". Never changes.
inline constexpr std::int32_t application_id = 0x6c74756e;
/// The version of the tables that every database has.
inline constexpr std::int32_t schema_version = 1;

/// The time of a statement, as columns hold it: 2024-01-31T12:00:00Z.
inline constexpr const char* current_time_sql = "strftime('%Y-%m-%dT%H:%M:%SZ', 'now')";

/// The version of the tables; 0 for a new file. Throws SQLite::Exception for what SQLite reports.
/// @param path  for the text of the error
/// @throws database_error if the file is not of libtune, or if this libtune cannot read it
std::int32_t read_marks(SQLite::Database& database, const std::string& path);

/// The error for tables of a newer version.
database_fault newer_tables(const std::string& path, const std::string& attempt,
                            std::int32_t version);

/// Makes the tables of a new database and marks the file as one. Inside the caller's transaction,
/// so that others see all of it or nothing. Throws SQLite::Exception for what SQLite reports.
void create_fixed_tables(SQLite::Database& database);

}  // namespace tune::detail
