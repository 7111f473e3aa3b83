// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libtune/store/database/function_identity.hpp"
#include "libtune/store/database/record.hpp"

namespace SQLite {
class Database;
class Statement;
}  // namespace SQLite

namespace tune::detail {

class connection;

/// The results of one autotune function in an open database, with prepared statements. Callers
/// check keys and values against the fields. Must not outlive the connection. Not thread-safe.
/// Errors of SQLite are SQLite::Exceptions.
class function_table {
 public:
  /// Opens the function's table; null if the database has none, or its description is damaged.
  /// @throws schema_drift_error   if the table was made with other fields
  /// @throws database_error       if the table belongs to a function whose name differs in case
  static std::unique_ptr<function_table> open(connection& source,
                                              const function_identity& function);

  /// Creates the table, inside the caller's write_transaction.
  static std::unique_ptr<function_table> create(connection& target,
                                                const function_identity& function);

  ~function_table();
  function_table(const function_table&) = delete;
  function_table& operator=(const function_table&) = delete;

  const function_identity& function() const noexcept { return function_; }

  /// Returns the result for exactly this key; empty, with a warning, if its checksum is wrong.
  std::optional<record> find(const std::vector<named_value>& arguments,
                             const device_identity& device);

  /// Returns every device with an intact result for these arguments, in no particular order.
  std::vector<device_identity> devices(const std::vector<named_value>& arguments);

  /// Returns every device with a result for any arguments, in no particular order. Reads the whole
  /// table; empty if a work_limit does not allow that.
  std::vector<device_identity> devices();

  /// Returns the latest intact results of a device for any arguments. Reads the whole table; empty
  /// if a work_limit does not allow that.
  std::vector<other_result> results_of(const device_identity& device, std::size_t most);

  /// Stores a result, replacing one with the same key, inside the caller's write_transaction.
  void store(const record_key& key, const std::vector<named_value>& values,
             std::optional<double> score_ns);

 private:
  function_table(connection& source, const function_identity& function);

  std::string path_;
  SQLite::Database& source_;
  function_identity function_;
  std::unique_ptr<SQLite::Statement> find_;
  std::unique_ptr<SQLite::Statement> devices_;
  std::unique_ptr<SQLite::Statement> store_;
};

/// The prefixes of columns for a key's and a tuning's fields.
inline constexpr const char* argument_prefix = "arg_";
inline constexpr const char* value_prefix = "value_";

/// Returns one line for each field, such as "arg_rows int32 optional", in the order of the names.
std::string describe_columns(const function_identity& function);

/// @throws schema_drift_error if two descriptions of a function's columns differ
void check_drift(const connection& source, const function_identity& function,
                 const std::string& stored, const std::string& current);

}  // namespace tune::detail
