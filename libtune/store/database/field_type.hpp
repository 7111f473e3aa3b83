// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string_view>

#include "libtune/base/value.hpp"

namespace tune::detail {

/// The type of this name ("uint32"); nothing for any other word.
std::optional<value_type> value_type_from_name(std::string_view name) noexcept;

/// The word for what a value is once its C++ type has been erased, as the trials keep it: "none",
/// "bool", "signed", "unsigned", "real" or "string".
std::string_view alternative_name(const value& v) noexcept;
/// The same for the values of a field of this type.
std::string_view alternative_name(value_type type) noexcept;

}  // namespace tune::detail
