// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// One of the results that a T4 file lists, and a trial as the database has it: what T4 has words
// for, in both directions. t4.hpp has whole files. Not a public header.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/store/maintenance/database_content.hpp"

namespace tune::detail {

using t4_json = nlohmann::json;

/// The unit of the times that are written, in nanoseconds.
inline constexpr double t4_unit = 1e6;

/// @throws argument_error that says what is wrong with a file, as all that follow do
[[noreturn]] void refuse_t4(const std::string& reason);

const t4_json& t4_member(const t4_json& object, const char* name);
std::string t4_text_member(const t4_json& object, const char* name);

/// The trial as a result. @param timestamp  for a trial whose date is not known
std::string t4_result_text(const trial_content& trial, const std::string& timestamp);

/// A parameter. @param alternative  what it is, by alternative_name; empty for what it shows
value t4_value(const t4_json& item, std::string_view alternative);

/// A configuration, as values of all these fields and no others.
std::vector<named_value> t4_configuration(const t4_json& object,
                                          const std::vector<field_description>& fields);

/// The columns of a trial that T4 itself has words for, but for the configuration.
/// @param unit  of the file's times, in nanoseconds
column_values t4_columns(const t4_json& result, double unit);

/// A trial with all that T4 says of it.
trial_content t4_trial(const t4_json& result, double unit,
                       const std::vector<field_description>& fields);

/// "2023-12-21 10:44:42.236642+00:00" as the columns have it: 2023-12-21T10:44:42Z.
std::string t4_date(const std::string& timestamp);

}  // namespace tune::detail
