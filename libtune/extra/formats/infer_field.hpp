// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "libtune/base/value.hpp"

namespace tune {

/// The given types of fields, by name; the names inside the descriptions do not count.
using field_types = std::map<std::string, field_description>;

/// The description of a field that follows from its values alone, for results from elsewhere. The
/// first line that fits all present values decides:
///
///   true and false                    boolean
///   whole numbers                     int32, as C++'s int, or where one does not fit int64, then
///                                     uint64
///   numbers                           float64
///   texts that name element types     element_type
///   anything else                     string
///
/// A field without a value in one of them is optional.
/// @param given  replaces the rule for the fields that it holds
field_description infer_field(const std::string& name, std::span<const value> values,
                              const field_types& given = {});

/// A value as one of a field; numbers and bools are converted where nothing is lost.
/// @throws argument_error that names the field if it is of another type
value convert_value(const field_description& field, const value& given);

/// The type of a text: "int32", or "int32?" for one that may be empty.
/// @throws argument_error that lists the types
field_description parse_field_type(const std::string& text);

}  // namespace tune
