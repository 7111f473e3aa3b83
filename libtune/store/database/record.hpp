// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/device/device_identity.hpp"
#include "libtune/store/database/match.hpp"
#include "libtune/store/database/stored_trial.hpp"

namespace tune {

/// The key of a result: arguments and device.
struct record_key {
  std::vector<named_value> arguments{};  ///< in the order of function_identity::key_fields
  device_identity device{};
};

/// Stands for the API in the device of a result that is a prior alone: the configuration of another
/// kernel that did the same work. No lookup returns it; a search tries it first.
inline constexpr std::string_view prior_api = "prior";

/// True if a result is a prior alone.
inline bool is_prior(const device_identity& device) { return device.capabilities.api == prior_api; }

/// The results that a look at the nearest devices returns.
enum class nearest_kind : std::uint8_t {
  results,  ///< measured for this function, or imported for it
  priors,   ///< priors alone
};

/// A result as it was looked up.
struct record {
  std::vector<named_value> values{};  ///< in the order of function_identity::value_fields
  match_grade grade = match_grade::exact;
  match_step step = match_step::exact;  ///< the difference between the devices
  device_identity device{};             ///< that measured it
  /// The columns that differ, such as "device_version", the weightiest last.
  std::vector<std::string> relaxed{};
  std::optional<double> score_ns;  ///< the time that was measured there, if any
  std::string database{};          ///< the path of its database
  bool remembered = false;         ///< true if this process had found it before
};

/// A result for some arguments.
struct other_result {
  std::vector<named_value> arguments{};  ///< in the order of function_identity::key_fields
  std::vector<named_value> values{};     ///< in the order of function_identity::value_fields
};

/// A result for other arguments or of another device, with the search behind it.
struct similar_result {
  std::vector<named_value> arguments{};  ///< in the order of function_identity::key_fields
  device_identity device{};              ///< that it is for
  std::vector<named_value> values{};     ///< in the order of function_identity::value_fields
  double distance = 0;                   ///< as similar_query has it
  /// True if the search went over the whole space (stored_seeds::is_whole), and found this.
  bool is_whole = false;
  bool has_all = false;  ///< true if it tried everything, and all of that is in trials
  /// The trials of the search without their samples, the best first.
  std::vector<stored_trial> trials{};
};

/// Selects results for similar_result.
struct similar_query {
  /// Returns how far a device is; empty: its results do not count.
  std::function<std::optional<double>(const device_identity&)> device_distance{};
  /// Returns how far arguments are, beside that.
  std::function<double(const std::vector<named_value>&)> key_distance{};
  int stage = 0;                  ///< which of the searches of one call the trials are of
  std::size_t most = 24;          ///< results, the nearest ones
  std::size_t most_trials = 128;  ///< of each, the best; 0: none
};

}  // namespace tune
