// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/field_check.hpp"

#include <cmath>
#include <fmt/format.h>
#include <limits>

#include "libtune/base/error.hpp"

namespace tune::detail {
namespace {

template <class Integer>
void check_signed(const value& v, value_type type) {
  signed_from(v, type, std::numeric_limits<Integer>::min(), std::numeric_limits<Integer>::max());
}

template <class Integer>
void check_unsigned(const value& v, value_type type) {
  unsigned_from(v, type, std::numeric_limits<Integer>::max());
}

void check_alternative(value_type type, const value& v) {
  switch (type) {
    case value_type::boolean: boolean_from(v); return;
    case value_type::int8: return check_signed<std::int8_t>(v, type);
    case value_type::uint8: return check_unsigned<std::uint8_t>(v, type);
    case value_type::int16: return check_signed<std::int16_t>(v, type);
    case value_type::uint16: return check_unsigned<std::uint16_t>(v, type);
    case value_type::int32: return check_signed<std::int32_t>(v, type);
    case value_type::uint32: return check_unsigned<std::uint32_t>(v, type);
    case value_type::int64: return check_signed<std::int64_t>(v, type);
    case value_type::uint64: return check_unsigned<std::uint64_t>(v, type);
    case value_type::float32:
    case value_type::float64: real_from(v, type); return;
    case value_type::string:
    case value_type::enumeration:
    case value_type::element_type: string_from(v, type); return;
  }
}

}  // namespace

void check_type(const field_description& field, const value& v) {
  if (field.optional && std::holds_alternative<std::monostate>(v)) return;
  try {
    check_alternative(field.type, v);
  } catch (const type_error& mismatch) {
    throw type_error(fmt::format("field '{}': {}", field.name, mismatch.what()));
  }
}

void check_fields(const std::vector<field_description>& fields,
                  const std::vector<named_value>& values, const std::string& whose) {
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i >= values.size() || values[i].name != fields[i].name) {
      throw argument_error(fmt::format("'{}' expects a value for the field '{}' and got {}", whose,
                                       fields[i].name,
                                       i < values.size() ? "'" + values[i].name + "'" : "none"));
    }
    check_type(fields[i], values[i].value);
  }
  if (values.size() > fields.size()) {
    throw argument_error(fmt::format("'{}' has no field '{}'", whose, values[fields.size()].name));
  }
}

void check_key(const std::vector<field_description>& fields, const std::vector<named_value>& values,
               const std::string& whose) {
  check_fields(fields, values, whose);
  for (const named_value& item : values) {
    const double* number = std::get_if<double>(&item.value);
    if (number != nullptr && std::isnan(*number)) {
      throw argument_error(fmt::format(
          "the field '{}' of a key of '{}' is NaN, which equals nothing and so is never found "
          "again; give it a number, or leave it empty if it is optional",
          item.name, whose));
    }
  }
}

void check_score(double score_ns) {
  if (!std::isfinite(score_ns) || score_ns <= 0) {
    throw argument_error(
        fmt::format("{} ns is not a time that was measured; nothing was stored", score_ns));
  }
}

}  // namespace tune::detail
