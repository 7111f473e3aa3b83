// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// Between the rows of an open database and database_content. All throw SQLite::Exception for what
// SQLite reports; the functions that write do so inside the caller's write_transaction.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "libtune/store/database/record.hpp"
#include "libtune/store/maintenance/database_content.hpp"
#include "libtune/store/maintenance/raw_table.hpp"

namespace tune::detail {

/// The longest time that a tool waits for other processes.
inline constexpr std::chrono::seconds tool_wait{10};

/// Runs change(connection) in one write_transaction on a database and commits it if the result is
/// true. Does nothing where there is no database. @param attempt  for the error's text
/// @throws database_error
void change_database(const std::string& path, const std::string& attempt,
                     const std::function<bool(connection&)>& change);

/// The functions that libtune_function lists, their fields in the order of their table's columns,
/// sorted by name and version. Those whose table does not have these columns are left out.
/// @param damaged  is increased for each that is left out
std::vector<function_identity> read_functions(connection& source, std::size_t& damaged);

/// All that is kept of a function that the database has.
/// @param damaged  is increased for each row that is left out because its checksum is wrong
/// @param only     the key whose result and searches are wanted; null: those of all keys
function_content read_content(connection& source, const function_identity& function,
                              bool with_trials, std::size_t& damaged,
                              const record_key* only = nullptr);

/// The intact result for a key of the function. @param results  the function's table
std::optional<result_content> read_result(raw_table& results, const function_identity& function,
                                          const result_content& wanted);

/// Stores a result, in place of the one with the same key.
void write_result(raw_table& results, const result_content& result);

/// Adds a search, with its trials, under a number that is free.
void write_search(connection& target, const function_identity& function,
                  const search_content& search);

}  // namespace tune::detail
