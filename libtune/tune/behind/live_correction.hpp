// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/device/context.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/store/database/record.hpp"
#include "libtune/tune/behind/tuning_news.hpp"

namespace tune::detail {

/// Returns the result that the user's database has for exactly this key now; none where there is no
/// database, as in test programs, or it cannot be read.
std::optional<better_tuning> find_stored_result(const context& context,
                                                const function_identity& function,
                                                const record_key& key);

/// Puts back the result that was in service before one that was no better there, if the database
/// has that one still, and says so in the trial that found it: `tunedb explain` shows it. Nothing
/// is written in the mode cached. A database that cannot be written costs one warning.
/// @param before    the tuning that serves
/// @param score_ns  its time in its own search, where known
/// @param reason    in words
void take_back_result(const context& context, const better_tuning& wrong,
                      const std::vector<named_value>& before, std::optional<double> score_ns,
                      const std::string& reason);

}  // namespace tune::detail
