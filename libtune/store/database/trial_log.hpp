// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libtune/store/database/function_identity.hpp"
#include "libtune/store/database/record.hpp"
#include "libtune/store/database/schema.hpp"
#include "libtune/store/database/stored_trial.hpp"

namespace tune::detail {

class connection;

/// Searches and their trials in an open database. Functions that write must be called inside a
/// write_transaction. Rows with a wrong checksum are left out, with a warning. Errors of SQLite are
/// SQLite::Exceptions.

/// Unambiguous text of a key's arguments, equal for equal keys.
std::string canonical_arguments(std::vector<named_value> arguments);

/// Returns a number for a new search, above all others.
search_id next_search(connection& target);

/// Starts a search for a key of a function that has a table.
search_id insert_search(connection& target, const function_identity& function,
                        const record_key& key, const search_identity& identity = {});

/// True if the database has this search.
bool has_search(connection& source, search_id search);

/// Appends a trial to a search.
void insert_trial(connection& target, search_id search, const stored_trial& trial);

/// Replaces the latest trial of the same configuration, or appends the trial.
void replace_trial(connection& target, search_id search, const stored_trial& trial);

/// Stores the end of a search, with its result.
void end_search(connection& target, search_id search, const std::string& result);

/// Reads the trials of a search without their samples, the smallest score first, those without a
/// score last.
/// @param most  the largest number of trials
std::vector<stored_trial> read_scores(connection& source, search_id search, std::size_t most);

/// Reads the search for this key that was started last.
std::optional<stored_search> read_latest_search(connection& source,
                                                const function_identity& function,
                                                const record_key& key);

/// The same without its trials. @param stage  restricts it to searches of this stage
std::optional<stored_search> read_search_result(connection& source,
                                                const function_identity& function,
                                                const record_key& key,
                                                std::optional<int> stage = std::nullopt);

/// Reads the trials of a search in the order in which they were made.
std::vector<stored_trial> read_trials(connection& source, search_id search);

/// Reads one trial; empty if it is damaged.
std::optional<stored_trial> read_trial(connection& source, search_id search, std::int64_t position);

/// Returns the latest 256 searches of a function for any key and goal, on a device with exactly
/// this identity and a compiler, the latest first.
std::vector<search_id> list_searches(connection& source, const function_identity& function,
                                     const device_identity& device, const std::string& compiler);

/// Returns the searches for exactly this key and stage with the same compiler and libtune, for any
/// space and goal, the latest first; at most 256.
std::vector<search_id> list_searches(connection& source, const function_identity& function,
                                     const record_key& key, const search_identity& identity);

/// Reads the origin of a result: the latest trial of its key that measured these values. Empty if
/// there is no such trial, as for an imported result, or its rows are damaged.
std::optional<result_origin> read_origin(connection& source, const function_identity& function,
                                         const record_key& key,
                                         const std::vector<named_value>& values);

/// Returns the condition that a trial was tried and had one of this many outcomes, which are its
/// parameters.
std::string has_outcome_sql(std::size_t outcomes);

/// True if a search is for this key, space and stage.
bool has_key(connection& source, search_id search, const function_identity& function,
             const record_key& key, const search_identity& identity);

}  // namespace tune::detail
