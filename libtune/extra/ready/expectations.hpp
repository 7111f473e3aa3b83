// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/store/database/record.hpp"
#include "libtune/store/database/tuning_layers.hpp"

namespace tune::detail {

/// The expected gain and pace of a search for a key.
struct search_expectation {
  double gain = 0;  ///< the part of the operation's time that it saves
  std::chrono::duration<double> pace{};
};

/// The gain without similar searches, where the test default and where the nearest result serves.
inline constexpr double gain_on_default = 0.5;
inline constexpr double gain_on_nearest = 0.1;
/// The pace without similar searches.
inline constexpr std::chrono::duration<double> default_pace{5};

/// Expects of a search what earlier searches for similar keys and devices gave: the loss of the
/// configuration that serves now, and a third of the time that they took; else the constants above.
/// An error of a database causes a warning.
/// @param served      the configuration that serves now
/// @param is_nearest  true if it is the result of another device
search_expectation expect(const tuning_layers& layers, const function_identity& function,
                          const record_key& key, const std::vector<named_value>& served,
                          bool is_nearest);

}  // namespace tune::detail
