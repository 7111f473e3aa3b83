// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "libtune/extra/maintenance/database_content.hpp"
#include "libtune/store/database/schema.hpp"

namespace SQLite {
class Column;
class Statement;
}  // namespace SQLite

namespace tune::detail {

class connection;

/// Puts a value into the parameter with this number.
using parameter_binder = std::function<void(SQLite::Statement&, int)>;

/// A column of a row that is written or looked for.
struct bound_column {
  std::string name;
  parameter_binder bind;
};

bound_column bind_column(std::string name, column_value v);
/// The typed value of a field, as column.hpp keeps it. @param in_key  true for a field of a key
bound_column bind_column(std::string name, const value& v, bool in_key);

column_value read_column(const SQLite::Column& column);

/// A table of an open database whose columns are known from the file alone, the checksum apart.
/// Must not outlive the connection. Not thread-safe. Throws SQLite::Exception for what SQLite
/// reports.
class raw_table {
 public:
  /// @throws SQLite::Exception if there is no such table
  raw_table(connection& source, std::string name);
  ~raw_table();
  raw_table(raw_table&&) noexcept;
  raw_table& operator=(raw_table&&) = delete;

  const std::string& name() const noexcept { return layout_.table; }
  const std::vector<std::string>& columns() const noexcept { return layout_.columns; }
  /// Those of the primary key, in its order.
  const std::vector<std::string>& key() const noexcept { return key_; }
  bool has(const std::string& column) const;

  /// Calls visit(statement) for each row that is intact and holds these values, in the order of the
  /// primary key; the statement's columns are columns(). Outside of a transaction others can commit
  /// between two rows, every millisecond or so: each row is as it is when it is visited.
  /// @returns how many such rows are damaged
  std::size_t read(const std::vector<bound_column>& where,
                   const std::function<void(SQLite::Statement&)>& visit);
  /// The same for some columns, whose places in the statement are those here, and for damaged rows
  /// too.
  void scan(const std::vector<std::string>& some, const std::vector<bound_column>& where,
            const std::function<void(SQLite::Statement&)>& visit);

  /// The value of a column that is not given: its default if that is a plain number or text, else
  /// the empty one.
  const column_value& default_of(const std::string& column) const { return defaults_.at(column); }

  /// The value as the column's type keeps it. SQLite would convert others on the way into the
  /// table, and the row would not be what its checksum was made of.
  /// @throws argument_error if the type does not hold the value
  bound_column bind(const std::string& column, const column_value& v) const;

  /// Writes a row with its checksum, inside the caller's write_transaction. Columns that are not
  /// given have their default. @throws argument_error if the table lacks one that is given
  /// @param replace  takes the place of a row with the same primary key
  void write(const std::vector<bound_column>& row, bool replace = false);

  /// The number of rows, damaged ones included.
  std::size_t count();

 private:
  void visit_rows(const std::string& select, const std::vector<bound_column>& where,
                  const std::function<void(SQLite::Statement&)>& visit);
  bool visit_some(const std::string& select, const std::vector<bound_column>& where,
                  std::vector<bound_column>& last,
                  const std::function<void(SQLite::Statement&)>& visit);
  void prepare_write(bool replace);

  connection* source_;
  row_layout layout_;
  std::vector<std::string> key_;
  column_values defaults_;
  std::map<std::string, std::string> types_;
  std::unique_ptr<SQLite::Statement> read_;
  std::string read_sql_;
  std::unique_ptr<SQLite::Statement> write_;
  bool replaces_ = false;
};

}  // namespace tune::detail
