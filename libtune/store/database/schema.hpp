// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// The rows of a database, the tables that every database has, and the marks that identify a file as
// a tuning database, with its version.
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

// Disks, cables or people can change a value without SQLite noticing. Every row therefore has a
// checksum, in its column "checksum": the first 16 bytes of the SHA-256 of
//
//   <table>(<column>,...,)  then for each column  n; | i<decimal>; | f<hexadecimal>; |
//                                                t<bytes>:<text>; | b<bytes>:<blob>;
//
// over all other columns in the order of the bytes of their names; after every hundred columns the
// previous text is replaced by its checksum. A row with a wrong checksum counts as missing: it is
// never a result, and the next stored one replaces it. Databases contain checksums: a change needs
// a new version of the file format.

/// A column, and the expression for its value in a statement: a parameter, or the column's name.
struct column_term {
  std::string column;
  std::string expression;
};

/// The columns of a table in a fixed order, without the checksum, and the statements that read and
/// write its rows. All code that reads or writes rows uses it.
struct row_layout {
  std::string table{};
  std::vector<std::string> columns{};

  /// A condition that is true for a row with a right checksum; never NULL.
  std::string intact() const;
  /// "SELECT <columns>, <intact> FROM <table>": the columns in the order of this list, then 1 or 0.
  std::string select() const;
  /// "<verb> INTO <table> (<columns>, checksum) VALUES (...)". The n-th column has the parameter
  /// ?n, or its expression in computed.
  /// @param verb  "INSERT" or "INSERT OR REPLACE"
  std::string insert(std::string_view verb, const std::vector<column_term>& computed = {}) const;
  /// "UPDATE <table> SET <changed>, checksum = ...".
  std::string update(const std::vector<column_term>& changed) const;

 private:
  std::vector<column_term> terms(const std::vector<column_term>& given) const;
};

/// Registers the function libtune_checksum with a connection, for libtune's own statements.
void register_row_checksum(SQLite::Database& database);

/// Returns a name in double quotes, whatever its characters.
std::string quoted_name(std::string_view name);
/// Returns the quoted names, separated by commas.
std::string quoted_names(const std::vector<std::string>& names);

/// Returns the expression for a row's checksum. @param terms  all columns but the checksum, in any
/// order
std::string checksum_expression(std::string_view table, std::vector<column_term> terms);

/// Warns, once for each table in a process, of a row that is left out.
void warn_of_damaged_row(const std::string& path, std::string_view table);

/// Marks a file as a tuning database: "ltun". Never changes.
inline constexpr std::int32_t application_id = 0x6c74756e;
/// The version of the tables that every database has.
inline constexpr std::int32_t schema_version = 1;

/// The time of a statement in the form of columns: 2024-01-31T12:00:00Z.
inline constexpr const char* current_time_sql = "strftime('%Y-%m-%dT%H:%M:%SZ', 'now')";

/// Returns the version of the tables; 0 for a new file. Errors of SQLite are SQLite::Exceptions.
/// @param path  for the text of the error
/// @throws database_error if the file does not belong to libtune, or this libtune cannot read it
std::int32_t read_marks(SQLite::Database& database, const std::string& path);

/// The error for tables of a newer version.
database_fault newer_tables(const std::string& path, const std::string& attempt,
                            std::int32_t version);

/// Creates the tables of a new database and marks the file. Call it inside a transaction, so that
/// others see all of it or nothing. Errors of SQLite are SQLite::Exceptions.
void create_fixed_tables(SQLite::Database& database);

}  // namespace tune::detail
