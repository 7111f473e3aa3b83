// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// Between the rows of an open database and database_content. All throw SQLite::Exception for what
// SQLite reports; the functions that write do so inside the caller's write_transaction.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libtune/extra/maintenance/database_content.hpp"
#include "libtune/extra/maintenance/raw_table.hpp"
#include "libtune/store/database/record.hpp"
#include "libtune/store/database/trial_log.hpp"

namespace tune::detail {

/// The longest time that a tool waits for other processes.
inline constexpr std::chrono::seconds tool_wait{10};

/// The tables of searches in an open database, opened once for many of them.
struct search_tables {
  explicit search_tables(connection& source);
  void open_metrics(connection& source) { metrics.emplace(source, "libtune_metrics"); }
  void open(connection& source, const side_table& side) {
    sides.try_emplace(&side, source, side.layout.table);
  }

  raw_table searches;
  raw_table trials;
  std::optional<raw_table> metrics{};            // a database without any has no such table
  std::map<const side_table*, raw_table> sides;  // the same
};

/// Runs change(connection) in one write_transaction on a database and commits it if the result is
/// true. Does nothing where there is no database. @param attempt  for the error's text
/// @throws database_error
void change_database(const std::string& path, const std::string& attempt,
                     const std::function<bool(connection&)>& change);

/// The functions that libtune_function lists, their fields in the order of their table's columns,
/// sorted by name and version. Those whose table does not have these columns are left out.
/// @param damaged  is increased for each that is left out
std::vector<function_identity> read_functions(connection& source, std::size_t& damaged);

/// All that is kept of a function that the database has. A search that others remove meanwhile is
/// left out.
/// @param damaged  is increased for each row that is left out because its checksum is wrong
/// @param only     the key whose result and searches are wanted; null: those of all keys
function_content read_content(connection& source, const function_identity& function,
                              bool with_trials, std::size_t& damaged,
                              const record_key* only = nullptr);

/// The searches of a function without their trials.
std::vector<search_content> read_searches(connection& source, const function_identity& function,
                                          std::size_t& damaged);

/// The searches of a function for the key and device of another search, with their trials.
std::vector<search_content> read_searches_like(search_tables& tables,
                                               const function_identity& function,
                                               const search_content& other, std::size_t& damaged);

/// Reads the trials of a search into it. @returns false if the database does not have it any more
bool read_trials(connection& source, search_content& search, std::size_t& damaged);

/// The intact result for a key of the function. @param results  the function's table
std::optional<result_content> read_result(raw_table& results, const function_identity& function,
                                          const result_content& wanted);

/// Stores a result, in place of the one with the same key.
void write_result(raw_table& results, const result_content& result);

/// Adds a search, with its trials, under a number that is free.
void write_search(connection& target, search_tables& tables, const function_identity& function,
                  const search_content& search);

}  // namespace tune::detail
