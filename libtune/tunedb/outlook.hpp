// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "libtune/store/database/record.hpp"
#include "libtune/store/database/stored_trial.hpp"
#include "libtune/store/database/stored_trial.hpp"
#include "libtune/tune/settings.hpp"
#include "libtune/tunedb/layers.hpp"

namespace tune::cli {

/// What a program does for a key.
enum class next_step : std::uint8_t {
  use,           ///< it uses the result
  check_first,   ///< it uses the nearest result that turns out to work on the device
  verify,        ///< it measures the nearest results and a few other configurations
  tune,          ///< it searches
  fail,          ///< it throws not_tuned_error
  test_default,  ///< it uses the test default
};

/// The word for it in JSON: "check first".
const char* next_step_name(next_step step) noexcept;

/// A result for the key, of this device or of another.
struct candidate {
  record result{};
  std::string lost{};  ///< why it is not used; empty for the one that is
};

/// What a program with certain settings would do for a key, and why. It is what autotuners do, but
/// for what only the program itself can tell: whether a result of another device can run.
struct outlook {
  next_step step = next_step::tune;
  std::vector<candidate> candidates{};  ///< the best first, over all layers

  /// The one that is used, or comes first in the check or verification; null if there is none.
  const candidate* answer() const noexcept;
  /// What will be done, in words.
  std::string text(const tuning_settings& settings) const;
};

/// Looks ahead. A layer that cannot be used for the function gets a fault that says why.
outlook look_ahead(std::vector<layer>& layers, const tuning_settings& settings,
                   const function_identity& function, const record_key& key);

/// With what a result was measured; nothing if that is not known or cannot be read.
std::optional<result_origin> origin_of(const std::vector<layer>& layers,
                                       const function_identity& function, const record_key& key,
                                       const record& result);

/// The trials of the latest search behind a result; none if they cannot be read.
std::vector<stored_trial> trials_behind(const std::vector<layer>& layers,
                                        const function_identity& function, const record_key& key,
                                        const record& result);

}  // namespace tune::cli
