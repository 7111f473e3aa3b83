// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/device/device_identity.hpp"
#include "libtune/store/database/match.hpp"

namespace tune {

/// The key of a result: arguments and device.
struct record_key {
  std::vector<named_value> arguments{};  ///< in the order of function_identity::key_fields
  device_identity device{};
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

}  // namespace tune
