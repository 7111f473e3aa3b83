// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>

#include "libtune/store/database/tuning_database.hpp"

namespace tune::detail {

class connection;

/// The highest measured rates of devices in an open database. The table is made with the first
/// rate. Errors of SQLite are SQLite::Exceptions.

/// Reads a rate, inside the caller's read_transaction; empty without one, or, with a warning, if
/// its row is damaged.
std::optional<double> read_peak(connection& source, const peak_identity& of);

/// Stores a rate unless a higher one is there, inside the caller's write_transaction.
void note_peak(connection& target, const peak_identity& of, double rate);

/// Counts the intact rows, and adds the others to damaged.
std::size_t count_peaks(connection& source, std::size_t& damaged);

}  // namespace tune::detail
