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

/// What a result was found for.
struct record_key {
  std::vector<named_value> arguments{};  ///< in the order of function_identity::key_fields
  device_identity device{};
};

/// A result as it was looked up.
struct record {
  std::vector<named_value> values{};  ///< in the order of function_identity::value_fields
  match_grade grade = match_grade::exact;
  match_step step = match_step::exact;  ///< how the device differs
  device_identity device{};             ///< whose result it is
  std::vector<std::string>
      relaxed{};  ///< the columns that differ, such as "device_version", the weightiest last
  std::optional<double> score_ns;  ///< what it measured there, if it was measured
  std::string database{};          ///< the path of the database that has it
  bool remembered = false;         ///< whether this process had found it before
};

/// A result for some arguments.
struct other_result {
  std::vector<named_value> arguments{};  ///< in the order of function_identity::key_fields
  std::vector<named_value> values{};     ///< in the order of function_identity::value_fields
};

}  // namespace tune
