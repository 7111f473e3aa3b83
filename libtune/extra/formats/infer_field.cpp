// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/formats/infer_field.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <limits>

#include "libtune/base/dtype.hpp"
#include "libtune/base/error.hpp"
#include "libtune/base/json.hpp"
#include "libtune/store/database/column.hpp"

namespace tune {
namespace {

bool is_there(const value& v) { return !std::holds_alternative<std::monostate>(v); }

template <class T>
bool is_a(const value& v) {
  return std::holds_alternative<T>(v);
}

bool is_whole(const value& v) { return is_a<std::int64_t>(v) || is_a<std::uint64_t>(v); }
bool is_number(const value& v) { return is_whole(v) || is_a<double>(v); }
bool is_dtype(const value& v) {
  const auto* text = std::get_if<std::string>(&v);
  return text != nullptr && is_dtype_name(*text);
}

bool fits_int64(const value& v) {
  const auto* large = std::get_if<std::uint64_t>(&v);
  return large == nullptr || *large <= std::uint64_t{std::numeric_limits<std::int64_t>::max()};
}

bool fits_int32(const value& v) {
  using limits = std::numeric_limits<std::int32_t>;
  if (const auto* number = std::get_if<std::uint64_t>(&v)) {
    return *number <= std::uint64_t{limits::max()};
  }
  const auto number = std::get<std::int64_t>(v);
  return number >= limits::min() && number <= limits::max();
}

bool is_negative(const value& v) {
  const auto* number = std::get_if<std::int64_t>(&v);
  return number != nullptr && *number < 0;
}

value_type type_of_whole(const std::vector<value>& values) {
  if (std::ranges::all_of(values, fits_int32)) return value_type::int32;
  if (std::ranges::all_of(values, fits_int64)) return value_type::int64;
  return std::ranges::any_of(values, is_negative) ? value_type::float64 : value_type::uint64;
}

value_type type_of(const std::vector<value>& values) {
  if (values.empty()) return value_type::string;
  if (std::ranges::all_of(values, is_a<bool>)) return value_type::boolean;
  if (std::ranges::all_of(values, is_whole)) return type_of_whole(values);
  if (std::ranges::all_of(values, is_number)) return value_type::float64;
  if (std::ranges::all_of(values, is_dtype)) return value_type::element_type;
  return value_type::string;
}

}  // namespace

field_description infer_field(const std::string& name, std::span<const value> values,
                              const field_types& given) {
  if (const auto said = given.find(name); said != given.end()) {
    return {name, said->second.type, said->second.optional};
  }
  std::vector<value> present;
  std::ranges::copy_if(values, std::back_inserter(present), is_there);
  return {name, type_of(present), present.size() < values.size()};
}

value convert_value(const field_description& field, const value& given) {
  value converted = given;
  const auto* integer = std::get_if<std::int64_t>(&given);
  switch (field.type) {
    case value_type::boolean:
      if (integer != nullptr && (*integer == 0 || *integer == 1)) converted = *integer == 1;
      break;
    case value_type::uint8:
    case value_type::uint16:
    case value_type::uint32:
    case value_type::uint64:
      if (integer != nullptr && *integer >= 0) converted = static_cast<std::uint64_t>(*integer);
      break;
    case value_type::float32:
    case value_type::float64:
      if (integer != nullptr) converted = static_cast<double>(*integer);
      break;
    default: break;
  }
  try {
    detail::check_type(field, converted);
  } catch (const type_error& mismatch) {
    throw argument_error(mismatch.what());
  }
  return converted;
}

field_description parse_field_type(const std::string& text) {
  const bool optional = text.ends_with('?');
  const auto type = detail::value_type_from_name(optional ? text.substr(0, text.size() - 1) : text);
  if (type) return {.name = {}, .type = *type, .optional = optional};
  std::string known;
  for (auto i = static_cast<int>(value_type::boolean);
       i <= static_cast<int>(value_type::element_type); ++i) {
    known += (known.empty() ? "" : ", ");
    known += value_type_name(static_cast<value_type>(i));
  }
  throw argument_error(fmt::format(
      "'{}' is no type of a field; there are {}, each with a ? if it may be empty", text, known));
}

}  // namespace tune
