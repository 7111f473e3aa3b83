// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "libtune/store/database/schema.hpp"
#include "libtune/store/database/stored_trial.hpp"

namespace tune::detail {

class connection;

/// The course, the space, the seeds and the inputs of searches in an open database, under the rules
/// of trial_log.hpp.

/// A table with at most one row for a search. It is created with the first row, because an older
/// libtune creates databases without it.
struct side_table {
  row_layout layout;       ///< the search, and its columns in database_content
  std::string create_sql;  ///< creates the table if the database lacks it
};
/// The tables for the course, the space, the seeds and the inputs of searches.
std::span<const side_table> side_tables();

/// Stores the strategy of a search, and the reason for its end if it has ended; replaces earlier
/// ones.
void note_course(connection& target, search_id search, const stored_course& course);
/// Stores the space of a search; replaces an earlier one.
void note_space(connection& target, search_id search, const stored_space& space);
/// Stores the seeds of a search; replaces earlier ones.
void note_seeds(connection& target, search_id search, const stored_seeds& seeds);
/// Reads the seeds of a search; empty if they were not stored.
std::optional<stored_seeds> read_seeds(connection& source, search_id search);
/// Stores the inputs of a search that had others than those of the author.
void note_inputs(connection& target, search_id search, const std::string& inputs);
/// Reads the inputs of a search (search_identity::inputs); empty if they were not stored.
std::string read_inputs(connection& source, search_id search);

/// Reads the strategy of a search and the reason for its end; empty if they were not stored.
stored_course read_course(connection& source, search_id search);

/// Reads the number of configurations in the space of a search; empty if it was not stored.
std::optional<std::size_t> read_configurations(connection& source, search_id search);

}  // namespace tune::detail
