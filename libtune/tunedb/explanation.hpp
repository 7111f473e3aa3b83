// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "libtune/store/database/record.hpp"
#include "libtune/store/database/stored_trial.hpp"
#include "libtune/tune/settings.hpp"
#include "libtune/tunedb/layers.hpp"

namespace tune::cli {

/// A result for the key, of this device or of another.
struct candidate {
  record result{};
  std::string lost{};  ///< why it is not used; empty for the one that is
};

/// The lookup of a program with certain settings for a key, and why it ends as it does. Only the
/// program itself can tell if a result of another device runs.
struct lookup_explanation {
  lookup_step step = lookup_step::tune;
  std::vector<candidate> candidates{};  ///< the best first, over all layers

  /// The one that is used, or comes first in the check or verification; null if there is none.
  const candidate* answer() const noexcept;
  /// The step, in words.
  std::string text(const tuning_settings& settings) const;
};

/// Explains a lookup. A layer that cannot be used for the function gets a fault that says why.
lookup_explanation explain_lookup(std::vector<layer>& layers, const tuning_settings& settings,
                                  const function_identity& function, const record_key& key);

/// Returns the origin of a result; nothing if that is not known or cannot be read.
std::optional<result_origin> origin_of(const std::vector<layer>& layers,
                                       const function_identity& function, const record_key& key,
                                       const record& result);

/// Returns the trials of the latest search behind a result; none if they cannot be read.
std::vector<stored_trial> trials_behind(const std::vector<layer>& layers,
                                        const function_identity& function, const record_key& key,
                                        const record& result);

/// The confidence in a result, from the trials of its search.
struct result_confidence {
  result_confidence(const std::vector<stored_trial>& search, const record& result);

  std::size_t trials = 0;
  std::size_t measured = 0;
  std::size_t as_good = 0;   ///< configurations, itself included, that are at most 5 % slower
  bool was_fastest = false;  ///< no configuration was faster than the result
  /// Its time was taken while an application was at work on the device (LIBTUNE_MODE=behind).
  bool beside_application = false;
  std::optional<double> gap;    ///< by which part the next one is slower; empty if it was alone
  std::optional<double> noise;  ///< half of how far its samples lie apart, by their smallest
  /// The trials that had become the result and were no better in service; their messages say so.
  std::vector<stored_trial> taken_back;

  std::string reason() const;
  /// "clear": the next one is slower by more than the noise. "close": it is not. "unknown".
  std::string classification() const;
  std::string classification_text() const;
};

}  // namespace tune::cli
