// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/extra/formats/infer_field.hpp"
#include "libtune/extra/maintenance/database_content.hpp"
#include "libtune/tune/goal.hpp"

namespace tune {

/// The properties that a file of another tuner lacks.
struct foreign_subject {
  /// Without value_fields, the fields of the file are used, with the types of infer_field.
  function_identity function{};
  /// Types of these fields; infer_field for all others.
  field_types types{};
  std::vector<named_value> arguments{};        ///< in the order of the function's key_fields
  device_identity device{};                    ///< the device of the file's trials
  std::map<std::string, std::string> names{};  ///< fields by the parameters of the file
  std::vector<named_value> defaults{};         ///< the test default, if known
  /// True if the kernel is the function's: the best configuration is a result, which
  /// lookups return. Else it is a prior, which a search tries first: fields that the file lacks
  /// have their defaults, and parameters without a field are ignored.
  bool same_kernel = false;
  std::string date{};  ///< the date of trials without one, UTC, as 2024-01-31T12:00:00Z
  /// The goal of the search; empty: the file's. Results of a goal other than the least time are
  /// those of the function with this goal.
  std::optional<tuning_goal> goal{};
};

/// The name of a metric in libtune for the name of a figure elsewhere: "gflop_s" for "GFLOP/s".
std::string metric_name_for(std::string_view figure);

/// The goal of a search for a figure by the rules of Kernel Tuner: less time, energy, cost and
/// loss, more of a rate. @throws argument_error for a figure whose direction is unknown
tuning_goal goal_for(std::string_view figure);

/// The trials of a file as a search, and the best one by the goal as a result or prior.
/// @param trials  with the columns of a stored trial, the parameters by their names in the file
/// @throws argument_error without trials, or if the best one does not fit the fields
function_content content_of(const foreign_subject& subject, std::vector<trial_content> trials);

/// A date of Kernel Tuner, such as "2023-12-22 13:21:15.012489+00:00", in the form of the database;
/// empty for any other text.
std::string date_from(const std::string& timestamp);

}  // namespace tune
