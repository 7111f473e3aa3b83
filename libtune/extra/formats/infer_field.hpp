// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "libtune/base/value.hpp"

namespace tune {

/// The given types of fields, by name; names inside the descriptions are ignored.
using field_types = std::map<std::string, field_description>;

/// The description of a field derived from its values alone, for results from other sources. The
/// first line that fits all present values applies:
///
///   true and false                    boolean
///   whole numbers                     int32, as C++'s int, or where one does not fit int64, then
///                                     uint64
///   numbers                           float64
///   texts that name element types     element_type
///   anything else                     string
///
/// A field that lacks a value somewhere is optional.
/// @param given  overrides the rule for its fields
field_description infer_field(const std::string& name, std::span<const value> values,
                              const field_types& given = {});

/// A value converted to the type of a field; numbers and bools are converted if nothing is lost.
/// @throws argument_error that names the field, for a value of another type
value convert_value(const field_description& field, const value& given);

/// Parses a type: "int32", or "int32?" for an optional field.
/// @throws argument_error that lists the types
field_description parse_field_type(const std::string& text);

}  // namespace tune
