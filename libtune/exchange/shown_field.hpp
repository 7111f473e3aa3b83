// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "libtune/base/value.hpp"

namespace tune {

/// The types of fields of which somebody has said them, by name; the names in them do not count.
using field_types = std::map<std::string, field_description>;

/// What type a field has of which only values are known, as results from elsewhere are. The first
/// line that fits all values which are there decides:
///
///   true and false                    boolean
///   whole numbers                     int32, as C++'s int, or where one does not fit int64, then
///                                     uint64
///   numbers                           float64
///   texts that name element types     element_type
///   anything else                     string
///
/// A field without a value in one of them is optional.
/// @param given  counts instead of the rule, if it has the field
field_description shown_field(const std::string& name, std::span<const value> values,
                              const field_types& given = {});

/// A type as people write it: "int32", or "int32?" for one that may be empty.
/// @throws argument_error that lists the types
field_description parse_field_type(const std::string& text);

}  // namespace tune
