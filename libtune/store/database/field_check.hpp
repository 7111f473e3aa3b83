// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "libtune/base/value.hpp"

namespace tune::detail {

/// @throws type_error that names the field if the value is not of its type or does not fit
void check_type(const field_description& field, const value& v);

/// Checks that there is one value for each field, in order and of its type.
/// @param whose  the autotune function, for the text
/// @throws argument_error
void check_fields(const std::vector<field_description>& fields,
                  const std::vector<named_value>& values, const std::string& whose);

/// The same for a key, whose values also have to equal themselves: no NaN.
void check_key(const std::vector<field_description>& fields, const std::vector<named_value>& values,
               const std::string& whose);

/// A score or sample is a time: finite and above zero. @throws argument_error
void check_score(double score_ns);

}  // namespace tune::detail
