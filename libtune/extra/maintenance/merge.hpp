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
  std::size_t results_added = 0;     ///< for keys without a result
  std::size_t results_replaced = 0;  ///< by wins_over
  std::size_t results_kept = 0;      ///< because the present one is as good or better
  std::size_t searches_added = 0;
  std::size_t searches_known = 0;  ///< an identical search was there
  std::size_t left = 0;            ///< results and searches that could not be stored
  std::vector<std::string>
      reasons{};  ///< the reasons for these, without duplicates, at most a hundred
};

/// Adds a reason to a report if it is new. In a file from an unknown source each row can have a
/// different reason: after the hundredth, one entry says that there are more.
void add_reason(std::vector<std::string>& reasons, std::string reason);

/// The result that stays if there are two for one key.
enum class merge_winner : std::uint8_t {
  better,   ///< the better result by wins_over, and all searches
  incoming  ///< the incoming result; of searches only the incoming ones, if any
};

/// Merges contents into a database, in one transaction. The file is created if needed. For each key
/// the winner of both results stays, and every new search is added; so with wins_over, the order of
/// merges does not matter, nor does repeating one.
///
/// Contents that can never be stored are left out and reported, and the rest is stored: a result or
/// search with a bad type, time or device (each of identity_columns is checked), or with a column
/// that this libtune does not know; a function with a bad name, or with other fields than in the
/// database.
///
/// @throws database_error  if the file cannot be opened, read or written; it is then unchanged
merge_report merge_content(const std::string& path, const database_content& content,
                           merge_winner winner = merge_winner::better);

}  // namespace tune
