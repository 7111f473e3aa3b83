// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>

#include "libtune/store/database_content.hpp"

namespace tune {

/// What a merge has done to the database.
struct merge_report {
  std::size_t results_added = 0;     ///< for keys that had none
  std::size_t results_replaced = 0;  ///< because wins_over says so
  std::size_t results_kept = 0;      ///< because the one that was there is as good or better
  std::size_t searches_added = 0;
  std::size_t searches_known = 0;  ///< the same search, trial for trial, was there
};

/// Brings contents into a database, in one transaction: all of it or nothing. The file is made if
/// need be. For each key the winner of both results stays (wins_over), and every search that is
/// not there yet is added; so the order of merges does not matter, nor does repeating one.
///
/// @throws argument_error        if the contents can never be stored: a bad name, type or score
/// @throws schema_drift_error    if the database has the function with other fields
/// @throws database_error        if the file cannot be opened, read or written
merge_report merge_content(const std::string& path, const database_content& content);

}  // namespace tune
