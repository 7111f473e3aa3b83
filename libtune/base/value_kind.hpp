// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "libtune/base/value.hpp"

namespace tune::detail {

/// The alternative of a value, in the order of the variant.
enum class value_kind : std::uint8_t {
  none,
  boolean,
  signed_integer,
  unsigned_integer,
  real,
  string
};

value_kind kind_of(const value& v) noexcept;
/// The kind of the values of a field of this type.
value_kind kind_of(value_type type) noexcept;

/// "none", "bool", "signed", "unsigned", "real" or "string"; databases and documents hold them.
std::string_view kind_name(value_kind kind) noexcept;
/// The kind of this name; empty for any other text.
std::optional<value_kind> find_kind(std::string_view name) noexcept;

/// The type of this name ("uint32"); empty for any other text.
std::optional<value_type> value_type_from_name(std::string_view name) noexcept;

}  // namespace tune::detail
