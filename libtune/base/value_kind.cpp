// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/value_kind.hpp"

#include "libtune/base/word_table.hpp"

namespace tune::detail {
namespace {

constexpr word_table<value_kind, 6> kind_words{
    {"none", "bool", "signed", "unsigned", "real", "string"}};

}  // namespace

value_kind kind_of(const value& v) noexcept { return static_cast<value_kind>(v.index()); }

value_kind kind_of(value_type type) noexcept {
  switch (type) {
    case value_type::boolean: return value_kind::boolean;
    case value_type::int8:
    case value_type::int16:
    case value_type::int32:
    case value_type::int64: return value_kind::signed_integer;
    case value_type::uint8:
    case value_type::uint16:
    case value_type::uint32:
    case value_type::uint64: return value_kind::unsigned_integer;
    case value_type::float32:
    case value_type::float64: return value_kind::real;
    case value_type::string:
    case value_type::enumeration:
    case value_type::element_type: break;
  }
  return value_kind::string;
}

std::string_view kind_name(value_kind kind) noexcept { return kind_words.word(kind); }

std::optional<value_kind> find_kind(std::string_view name) noexcept {
  return kind_words.find(name);
}

std::optional<value_type> value_type_from_name(std::string_view name) noexcept {
  for (auto type = value_type::boolean;; type = static_cast<value_type>(int(type) + 1)) {
    if (value_type_name(type) == name) return type;
    if (type == value_type::element_type) return std::nullopt;
  }
}

}  // namespace tune::detail
