// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// Conversion of the rows of an open database to database_content. Errors of SQLite are
// SQLite::Exceptions.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libtune/base/sha256.hpp"
#include "libtune/extra/maintenance/database_content.hpp"
#include "libtune/extra/maintenance/raw_table.hpp"
#include "libtune/store/database/record.hpp"
#include "libtune/store/database/search_notes.hpp"
#include "libtune/store/database/trial_log.hpp"

namespace tune::detail {

/// The longest wait of a tool for other processes.
inline constexpr std::chrono::seconds tool_wait{10};

/// The column of libtune_trial with the configuration.
inline constexpr const char* configuration_column = "configuration";

/// The tables of searches in an open database, opened once for many searches.
struct search_tables {
  explicit search_tables(connection& source);
  void open_metrics(connection& source) { metrics.emplace(source, "libtune_metrics"); }
  void open(connection& source, const side_table& side) {
    sides.try_emplace(&side, source, side.layout.table);
  }

  raw_table searches;
  raw_table trials;
  std::optional<raw_table> metrics{};            // missing in a database without metrics
  std::map<const side_table*, raw_table> sides;  // likewise
};

/// Returns the functions in libtune_function, with the fields in the order of their table's
/// columns, sorted by name and version. Functions whose table does not match are left out.
/// @param damaged  is increased for each that is left out
std::vector<function_identity> read_functions(connection& source, std::size_t& damaged);

/// Returns all data of a function in the database. Searches that others remove meanwhile are left
/// out.
/// @param damaged  is increased for each row that is left out because of a wrong checksum
/// @param only     the key whose result and searches are returned; null: all keys
function_content read_content(connection& source, const function_identity& function,
                              std::size_t& damaged, const record_key* only = nullptr);

/// A digest of a key on a device, by their canonical texts, which take more memory.
sha256_digest key_digest(const std::string& arguments, const std::string& device);

/// Calls visit for each chosen result of a function. Outside of a transaction nothing keeps others
/// from committing meanwhile.
void for_each_result(connection& source, const function_identity& function,
                     const row_choice& choice, std::size_t& damaged,
                     const std::function<void(result_content&)>& visit);

/// Returns the first chosen result of a function.
std::optional<result_content> first_result(connection& source, const function_identity& function,
                                           const row_choice& choice);

/// Returns the numbers of the chosen searches of a function, the latest last.
std::vector<std::int64_t> find_searches(connection& source, const function_identity& function,
                                        const row_choice& choice);

/// Returns the numbers of the searches of a function that are unfinished or can be continued, and
/// are the latest of their key.
std::vector<std::int64_t> find_open_searches(connection& source, const function_identity& function);

/// Returns the search with a number; empty if the database no longer has it.
std::optional<search_content> read_search(search_tables& tables, std::int64_t id, bool with_trials,
                                          std::size_t& damaged);

/// Returns the searches of a function for the key and device of another search, with their trials.
std::vector<search_content> read_searches_like(search_tables& tables,
                                               const function_identity& function,
                                               const search_content& other, std::size_t& damaged);

/// Returns the intact result for a key of the function. @param results  the function's table
std::optional<result_content> read_result(raw_table& results, const function_identity& function,
                                          const result_content& wanted);

}  // namespace tune::detail
