// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/field_type.hpp"

#include "libtune/store/database/column.hpp"

namespace tune::detail {

std::optional<value_type> value_type_from_name(std::string_view name) noexcept {
  for (auto type = value_type::boolean;; type = static_cast<value_type>(int(type) + 1)) {
    if (value_type_name(type) == name) return type;
    if (type == value_type::element_type) return std::nullopt;
  }
}

std::string_view alternative_name(const value& v) noexcept { return kind_name(kind_of(v)); }
std::string_view alternative_name(value_type type) noexcept { return kind_name(kind_of(type)); }

}  // namespace tune::detail
