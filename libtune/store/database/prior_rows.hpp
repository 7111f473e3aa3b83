// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "libtune/store/database/tuning_database.hpp"

namespace tune::detail {

class connection;
class function_table;

/// Reads the parts of a query, inside the caller's read_transaction. Errors of SQLite are
/// SQLite::Exceptions.
prior_rows read_prior_rows(connection& source, const function_table& table, const record_key& key,
                           const prior_query& query);

}  // namespace tune::detail
