// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// A disk, a cable or a hand can change a value so that SQLite does not notice. Every row therefore
// carries a checksum, in its column "checksum": the first 16 bytes of the SHA-256 of
//
//   <table>(<column>,...,)  then for each column  n; | i<decimal>; | f<hexadecimal>; |
//                                                t<bytes>:<text>; | b<bytes>:<blob>;
//
// over all other columns in the order of the bytes of their names; after every hundred columns the
// checksum so far is put in place of what was before. A row whose checksum is wrong is not there:
// it is never a result, and the next one takes its place. Databases hold these: a change needs a
// new version of the file format.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libtune/base/cxx20.hpp"

namespace SQLite {
class Database;
}

namespace tune::detail {

/// A column and what stands for its value in a statement: a parameter, an expression, or its name.
struct column_term {
  std::string column;
  std::string expression;
};

/// Makes the function libtune_checksum known to a connection, for statements of its own only.
void register_row_checksum(SQLite::Database& database);

/// A name between double quotes, whatever is in it.
std::string quoted_name(std::string_view name);
/// The same of each, with commas between them.
std::string quoted_names(const std::vector<std::string>& names);

/// The expression for a row's checksum. @param terms  all columns but the checksum, in any order
std::string checksum_expression(std::string_view table, std::vector<column_term> terms);
/// The same, over the columns themselves.
std::string checksum_expression(std::string_view table, const std::vector<std::string>& columns);

/// A condition that a row keeps whose checksum is right; never NULL.
std::string is_intact(std::string_view table, const std::vector<std::string>& columns);

/// "<verb> INTO <table> (<columns>, checksum) VALUES (...)". The n-th column takes the parameter
/// ?n, counting only those for which `terms` holds no expression.
/// @param verb  "INSERT" or "INSERT OR REPLACE"
std::string insert_row_sql(std::string_view verb, std::string_view table,
                           std::vector<column_term> terms);
/// The same with a parameter for each column.
std::string insert_row_sql(std::string_view verb, std::string_view table,
                           const std::vector<std::string>& columns);

/// Warns, once for each table in a process, of a row that is left out.
void warn_of_damaged_row(const std::string& path, std::string_view table);

}  // namespace tune::detail
