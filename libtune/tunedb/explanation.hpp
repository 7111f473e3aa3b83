// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "libtune/store/database/record.hpp"
#include "libtune/store/database/stored_trial.hpp"
#include "libtune/tune/lookup_plan.hpp"
#include "libtune/tune/settings.hpp"
#include "libtune/tunedb/layers.hpp"

namespace tune::cli {

/// A result for the key, of this device or of another one.
struct candidate {
  record result{};
  std::string lost{};  ///< the reason why it is not used; empty for the used one
};

/// The lookup of a program with certain settings for a key, with reasons. Only the program itself
/// can test if a result of another device runs.
struct lookup_explanation {
  lookup_step step = lookup_step::tune;
  std::vector<candidate> candidates{};  ///< the best first, over all layers

  /// The result that is used, or comes first in the check or verification; null without one.
  const candidate* answer() const noexcept;
  /// The step, in words.
  std::string text(const tuning_settings& settings) const;
};

/// Explains a lookup. A layer that cannot be used for the function gets a fault with the reason.
lookup_explanation explain_lookup(std::vector<layer>& layers, const tuning_settings& settings,
                                  const function_identity& function, const record_key& key);

/// Returns the origin of a result; empty if unknown or unreadable.
std::optional<result_origin> origin_of(const std::vector<layer>& layers,
                                       const function_identity& function, const record_key& key,
                                       const record& result);

/// Returns the trials of the latest search of a result; empty if they cannot be read.
std::vector<stored_trial> trials_behind(const std::vector<layer>& layers,
                                        const function_identity& function, const record_key& key,
                                        const record& result);

/// The confidence in a result, from the trials of its search.
struct result_confidence {
  result_confidence(const std::vector<stored_trial>& search, const record& result);

  std::size_t trials = 0;
  std::size_t measured = 0;
  /// Number of configurations, including it, that are at most 5 % slower.
  std::size_t as_good = 0;
  bool was_fastest = false;  ///< no configuration was faster than the result
  /// Its time was taken while an application used the device (LIBTUNE_MODE=behind).
  bool beside_application = false;
  std::optional<double> gap;    ///< the relative slowdown of the next one; empty without one
  std::optional<double> noise;  ///< half of the relative distance between its samples
  /// The trials that became the result but were no better in service, according to their messages.
  std::vector<stored_trial> taken_back;

  std::string reason() const;
  /// "clear": the next one is slower by more than the noise; "close": by less; "unknown".
  std::string classification() const;
  std::string classification_text() const;
};

}  // namespace tune::cli
