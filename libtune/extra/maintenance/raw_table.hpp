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

/// Binds a value to the parameter with this number.
using parameter_binder = std::function<void(SQLite::Statement&, int)>;

/// A column of a row to write or find.
struct bound_column {
  std::string name;
  parameter_binder bind;
};

bound_column bind_column(std::string name, column_value v);
/// The typed value of a field, in the form of column.hpp. @param in_key  true for a field of a key
bound_column bind_column(std::string name, const value& v, bool in_key);

column_value read_column(const SQLite::Column& column);

/// A table of an open database with columns as in the file, without the checksum. Must not outlive
/// the connection. Not thread-safe. Errors of SQLite are SQLite::Exceptions.
class raw_table {
 public:
  /// @throws SQLite::Exception if there is no such table
  raw_table(connection& source, std::string name);
  ~raw_table();
  raw_table(raw_table&&) noexcept;
  raw_table& operator=(raw_table&&) = delete;

  const std::string& name() const noexcept { return layout_.table; }
  const std::vector<std::string>& columns() const noexcept { return layout_.columns; }
  /// The columns of the primary key, in its order.
  const std::vector<std::string>& key() const noexcept { return key_; }
  bool has(const std::string& column) const;

  /// Calls visit(statement) for each intact row with these values, in the order of the primary key;
  /// the statement's columns are columns(). Outside of a transaction others can commit between two
  /// rows, every millisecond or so: each row is read in its state at that time.
  /// @param pause  called when some rows were visited, while nothing keeps others from committing
  /// @returns the number of such rows that are damaged
  std::size_t read(const std::vector<bound_column>& where,
                   const std::function<void(SQLite::Statement&)>& visit,
                   const std::function<void()>& pause = {});
  /// The same for the first intact row. @returns false if there is no such row
  bool read_first(const std::vector<bound_column>& where,
                  const std::function<void(SQLite::Statement&)>& visit);
  /// The same for some columns, which have the same positions in the statement, and including
  /// damaged rows.
  void scan(const std::vector<std::string>& some, const std::vector<bound_column>& where,
            const std::function<void(SQLite::Statement&)>& visit);

  /// The value of an omitted column: its default if that is a plain number or text, else an empty
  /// value.
  const column_value& default_of(const std::string& column) const { return defaults_.at(column); }

  /// Returns the value in the form of the column's type. SQLite would convert other values on
  /// storing, and the row would not match its checksum.
  /// @throws argument_error if the type does not hold the value
  bound_column bind(const std::string& column, const column_value& v) const;

  /// Writes a row with its checksum, inside the caller's write_transaction. Omitted columns get
  /// their default. @throws argument_error if the table lacks a given column
  /// @param replace  replaces a row with the same primary key
  void write(const std::vector<bound_column>& row, bool replace = false);

  /// The number of rows, including damaged ones.
  std::size_t count();

 private:
  void visit_rows(const std::string& select, const std::vector<bound_column>& where,
                  const std::function<void(SQLite::Statement&)>& visit,
                  const std::function<void()>& pause = {});
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
