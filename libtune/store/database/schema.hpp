// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// The text of every statement that depends on the fields of an autotune function, and of the
// tables that every database has. Nothing but checked names gets into such a text, each quoted;
// values are always bound.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "libtune/store/database/function_identity.hpp"

namespace tune::detail {

/// Marks a file as a tuning database: "ltun". Never changes.
inline constexpr std::int32_t application_id = 0x6c74756e;
/// The version of the tables that every database has.
inline constexpr std::int32_t schema_version = 1;
/// The oldest libtune, by the version of its tables, that can read tables of this version. Kept
/// in libtune_meta as "oldest_reader", so that older ones know what they may do with a newer file.
inline constexpr std::int32_t oldest_reader = 1;

/// Creates libtune_meta, what the file says of itself, libtune_function, libtune_search,
/// libtune_trial and libtune_trial_value.
extern const char* const fixed_tables_sql;

/// The time of a statement, as columns hold it: 2024-01-31T12:00:00Z.
inline constexpr const char* current_time_sql = "strftime('%Y-%m-%dT%H:%M:%SZ', 'now')";

/// CREATE TABLE for the function's results: arg_*, device_*, score_ns, tuned_at,
/// value_* and checksum.
std::string create_table_sql(const function_identity& function);

/// Selects score_ns, the value_* columns and whether the row is intact. Parameters: the key's
/// fields, then the device's in the order of identity_columns().
std::string find_sql(const function_identity& function);

/// Selects the device_* columns of all intact rows with the same key fields, which are its
/// parameters.
std::string devices_sql(const function_identity& function);
/// Selects the arguments, then the values, of results of one device, the latest first.
std::string of_device_sql(const function_identity& function);

/// Stores a row, in place of the one with the same key. Parameters: those of find_sql, the score,
/// the tuning's fields.
std::string store_sql(const function_identity& function);

/// One line for each field, such as "arg_rows int32 optional", in the order of the names.
std::string describe_columns(const function_identity& function);

/// How two such descriptions differ, column by column; empty if they do not.
std::string describe_drift(std::string_view stored, std::string_view current);

}  // namespace tune::detail
