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

/// The function with that name in an application, or NAME__VERSION; without a version the highest.
/// @throws usage_error that lists the functions
const function_identity& find_function(std::span<const function_identity> functions,
                                       const std::string& text);

/// Keys from JSON: a list, or an object on each line, of
///
///   {"function": "fill.autotune", "version": 0, "key": {"rows": 64, "type": "float32"}}
///
/// The version is optional. The output of tunedb missed --json is valid, too. Duplicate keys are
/// used once.
/// @param source  the name of the text in errors
/// @throws usage_error that names the entry and its error
std::vector<pretuning_item> parse_key_list(const std::string& text,
                                           std::span<const function_identity> functions,
                                           const std::string& source);

/// Returns the number of keys in a text of this form that have requested sizes of portfolios. These
/// are not parsed.
std::size_t count_asked(const std::string& text);

/// True if a result is a portfolio that lacks some of the requested sizes: they are in none of its
/// ranges and have neither been measured nor left (still_missing).
bool lacks_asked_sizes(const missed_key& missed, const record& found);

/// Missed keys, each for its device. Keys of portfolios are to be tuned again.
struct missed_selection {
  std::vector<pretuning_item> items{};
  /// Keys of functions that the application does not have in this form.
  std::size_t of_other_programs = 0;
};
missed_selection select_missed(const std::vector<missed_key>& keys,
                               std::span<const function_identity> functions);

}  // namespace tune::cli
