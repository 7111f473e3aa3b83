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

/// Returns the result in the user's database for exactly this key; empty without a database, as in
/// test programs, or if it cannot be read.
std::optional<better_tuning> find_stored_result(const context& context,
                                                const function_identity& function,
                                                const record_key& key);

/// The previous result in service.
struct result_before {
  const std::vector<named_value>& values;
  std::optional<double> score_ns;  ///< its time in its own search, if known
};

/// Marks the trial that found a result as no better in service, if the database still has the
/// result, and restores the previous result: `tunedb explain` shows it. Writes nothing in the mode
/// cached. A database that cannot be written causes one warning.
/// @param before  empty: the previous tuning was not found for this key, so the result stays
/// @param reason  in words
void take_back_result(const context& context, const better_tuning& wrong,
                      const std::optional<result_before>& before, const std::string& reason);

}  // namespace tune::detail
