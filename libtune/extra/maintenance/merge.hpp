// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libtune/extra/maintenance/database_content.hpp"

namespace tune {

/// The outcome of a merge.
struct merge_report {
  std::size_t results_added = 0;     ///< for keys that had none
  std::size_t results_replaced = 0;  ///< because wins_over says so
  std::size_t results_kept = 0;      ///< because the one that was there is as good or better
  std::size_t searches_added = 0;
  std::size_t searches_known = 0;  ///< the same search, trial for trial, was there
  std::size_t left = 0;            ///< results and searches that could not be taken
  std::vector<std::string>
      reasons{};  ///< why, each once, a hundred at most; empty if all was taken
};

/// Adds a reason to those of a report if it is new. Of a file that may be anybody's each row can
/// have a reason of its own: behind the hundredth stands only that there are more.
void add_reason(std::vector<std::string>& reasons, std::string reason);

/// The result that stays where there are two for one key.
enum class merge_winner : std::uint8_t {
  better,   ///< the result that wins_over says, and all searches
  incoming  ///< the result that is brought in; of searches too those alone, if there are any
};

/// Brings contents into a database, in one transaction. The file is made if need be. For each key
/// the winner of both results stays, and every search that is not there yet is added; so the order
/// of merges by wins_over does not matter, nor does repeating one.
///
/// Contents that can never be stored are left out and reported, and the rest is taken: a result or
/// search with a bad type, time or device (each of identity_columns is looked at)
/// or with a column that this libtune does not know; a function with a bad name, or with other
/// fields than the database has it.
///
/// @throws database_error  if the file cannot be opened, read or written; it is then as it was
merge_report merge_content(const std::string& path, const database_content& content,
                           merge_winner winner = merge_winner::better);

}  // namespace tune
