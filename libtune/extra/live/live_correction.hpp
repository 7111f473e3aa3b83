// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/device/context.hpp"
#include "libtune/extra/behind/tuning_news.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/store/database/record.hpp"

namespace tune::detail {

/// Returns the result that the user's database has for exactly this key now; none where there is no
/// database, as in test programs, or it cannot be read.
std::optional<better_tuning> find_stored_result(const context& context,
                                                const function_identity& function,
                                                const record_key& key);

/// A result that served before another.
struct result_before {
  const std::vector<named_value>& values;
  std::optional<double> score_ns;  ///< its time in its own search, where known
};

/// Says in the trial that found a result that it was no better in service, if the database has the
/// result still, and puts back the one before: `tunedb explain` shows it. Nothing is written in the
/// mode cached. A database that cannot be written costs one warning.
/// @param before  none: the tuning that serves was not found for this key, so that the result stays
/// @param reason  in words
void take_back_result(const context& context, const better_tuning& wrong,
                      const std::optional<result_before>& before, const std::string& reason);

}  // namespace tune::detail
