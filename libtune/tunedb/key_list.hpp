// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "libtune/extra/ahead/pretuning.hpp"
#include "libtune/store/database/missed_keys.hpp"

namespace tune::cli {

/// The function of that name among those of an application, or NAME__VERSION; without a version the
/// highest. @throws usage_error that lists those that there are
const function_identity& find_function(std::span<const function_identity> functions,
                                       const std::string& text);

/// Keys from JSON: a list, or an object on each line, of
///
///   {"function": "fill.autotune", "version": 0, "key": {"rows": 64, "type": "float32"}}
///
/// where the version may be left out. What tunedb missed --json prints is understood too. A key
/// that is there twice is taken once.
/// @param source  what to call the text in errors
/// @throws usage_error that names the entry and what is wrong with it
std::vector<pretuning_item> parse_key_list(const std::string& text,
                                           std::span<const function_identity> functions,
                                           const std::string& source);

/// Returns the number of keys in a text of this form that have sizes of portfolios, which are not
/// parsed.
std::size_t count_asked(const std::string& text);

/// True if a result is a portfolio, and some of the sizes that programs have asked it for are in
/// none of its ranges and have neither been measured nor left (still_missing).
bool lacks_asked_sizes(const missed_key& missed, const record& found);

/// Keys that were missed, each for the device that it was missed on. Those of portfolios are to be
/// tuned again.
struct missed_selection {
  std::vector<pretuning_item> items{};
  std::size_t of_other_programs = 0;  ///< for functions that the application does not have so
};
missed_selection select_missed(const std::vector<missed_key>& keys,
                               std::span<const function_identity> functions);

}  // namespace tune::cli
