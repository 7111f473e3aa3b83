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

/// The API of the device in a result that is only a prior: the configuration of another kernel that
/// did the same work. No lookup returns it; a search tries it first.
inline constexpr std::string_view prior_api = "prior";

/// True if a result is only a prior.
inline bool is_prior(const device_identity& device) { return device.capabilities.api == prior_api; }

/// The results that a lookup of the nearest devices returns.
enum class nearest_kind : std::uint8_t {
  results,  ///< measured or imported for this function
  priors,   ///< only priors
};

/// The result of a lookup.
struct record {
  std::vector<named_value> values{};  ///< in the order of function_identity::value_fields
  match_grade grade = match_grade::exact;
  match_step step = match_step::exact;  ///< the difference between the devices
  device_identity device{};             ///< the device that measured it
  /// The differing columns, such as "device_version", the most important last.
  std::vector<std::string> relaxed{};
  std::optional<double> score_ns;  ///< the time measured there, if any
  std::string database{};          ///< the path of its database
  bool remembered = false;         ///< true if this process had found it before
};

/// A result for some arguments.
struct other_result {
  std::vector<named_value> arguments{};  ///< in the order of function_identity::key_fields
  std::vector<named_value> values{};     ///< in the order of function_identity::value_fields
};

/// A result for other arguments or of another device, with its search.
struct similar_result {
  std::vector<named_value> arguments{};  ///< in the order of function_identity::key_fields
  device_identity device{};              ///< the device of the result
  std::vector<named_value> values{};     ///< in the order of function_identity::value_fields
  double distance = 0;                   ///< as computed by similar_query
  /// True if the search covered the whole space (stored_seeds::is_whole), and found this.
  bool is_whole = false;
  bool has_all = false;  ///< true if it tried all configurations, and all of them are in trials
  /// The trials of the search without their samples, the best first.
  std::vector<stored_trial> trials{};
};

/// Selects results for similar_result.
struct similar_query {
  /// Returns the distance of a device; empty: its results are ignored.
  std::function<std::optional<double>(const device_identity&)> device_distance{};
  /// Returns the distance of arguments, which is added.
  std::function<double(const std::vector<named_value>&)> key_distance{};
  int stage = 0;                  ///< the index of the search in one call whose trials are read
  std::size_t most = 24;          ///< the largest number of results, the nearest ones
  std::size_t most_trials = 128;  ///< the largest number of trials for each, the best ones; 0: no
                                  ///< trials
};

}  // namespace tune
