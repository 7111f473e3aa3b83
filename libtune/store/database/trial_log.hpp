// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libtune/store/database/function_identity.hpp"
#include "libtune/store/database/record.hpp"
#include "libtune/store/database/schema.hpp"
#include "libtune/store/database/stored_trial.hpp"

namespace tune::detail {

class connection;

/// Searches and their trials in an open database. The functions that write do so inside the
/// caller's write_transaction. Rows whose checksum is wrong are left out, with a warning. All throw
/// SQLite::Exception for what SQLite reports.

/// Unambiguous text of a key's arguments, equal for equal keys.
std::string canonical_arguments(std::vector<named_value> arguments);

/// A number for a new search: above all others.
search_id next_search(connection& target);

/// Starts a search for a key of a function that has a table.
search_id insert_search(connection& target, const function_identity& function,
                        const record_key& key, const search_identity& identity = {});

/// True if the database has this search.
bool has_search(connection& source, search_id search);

/// Appends a trial to a search.
void insert_trial(connection& target, search_id search, const stored_trial& trial);

/// Puts a trial in the place of the latest of the same configuration, else appends it.
void replace_trial(connection& target, search_id search, const stored_trial& trial);

/// Notes the end of a search and its result.
void end_search(connection& target, search_id search, const std::string& result);

/// A table that has at most one row for a search. It comes with the first row, because an older
/// libtune makes a database without it.
struct side_table {
  row_layout layout;       ///< the search, and the columns that database_content gives it
  std::string create_sql;  ///< makes the table if the database has none
};
/// Those of the course, the space and the seeds of searches.
std::span<const side_table> side_tables();

/// Notes the strategy of a search, and why it ended if it has, in place of what was noted before.
void note_course(connection& target, search_id search, const stored_course& course);
/// Notes the space of a search, in place of what was noted before.
void note_space(connection& target, search_id search, const stored_space& space);
/// Notes the seeds of a search, in place of what was noted before.
void note_seeds(connection& target, search_id search, const stored_seeds& seeds);
/// The seeds of a search; none if they were not noted.
std::optional<stored_seeds> read_seeds(connection& source, search_id search);

/// The strategy of a search and why it ended; empty if they were not noted.
stored_course read_course(connection& source, search_id search);

/// The number of configurations in the space of a search; none if that was not noted.
std::optional<std::size_t> read_configurations(connection& source, search_id search);

/// The trials of a search without their samples, the least score first, those without one last.
/// @param most  how many at most
std::vector<stored_trial> read_scores(connection& source, search_id search, std::size_t most);

/// The search for this key that was started last.
std::optional<stored_search> read_latest_search(connection& source,
                                                const function_identity& function,
                                                const record_key& key);

/// The same without its trials. @param stage  counts only searches of this stage
std::optional<stored_search> read_search_result(connection& source,
                                                const function_identity& function,
                                                const record_key& key,
                                                std::optional<int> stage = std::nullopt);

/// The trials of a search in the order in which they were made.
std::vector<stored_trial> read_trials(connection& source, search_id search);

/// One of them; none if it is damaged.
std::optional<stored_trial> read_trial(connection& source, search_id search, std::int64_t position);

/// The latest 256 searches of a function, whatever the key and the goal, on a device of exactly
/// this identity with a compiler, the latest first.
std::vector<search_id> list_searches(connection& source, const function_identity& function,
                                     const device_identity& device, const std::string& compiler);

/// The searches for exactly this key and stage with the same compiler and libtune, in whatever
/// space and for whatever goal, the latest first; 256 at most.
std::vector<search_id> list_searches(connection& source, const function_identity& function,
                                     const record_key& key, const search_identity& identity);

/// The origin of a result: the latest trial of its key that measured these values. None if there
/// is no such trial, as for an imported result, or if its rows are damaged.
std::optional<result_origin> read_origin(connection& source, const function_identity& function,
                                         const record_key& key,
                                         const std::vector<named_value>& values);

/// The condition that a trial was tried and ended with one of so many outcomes, which are its
/// parameters.
std::string has_outcome_sql(std::size_t outcomes);

/// True if a search is for this key, space and stage.
bool has_key(connection& source, search_id search, const function_identity& function,
             const record_key& key, const search_identity& identity);

}  // namespace tune::detail
