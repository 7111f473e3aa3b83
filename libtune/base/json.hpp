// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// JSON of values in two forms. The exact form gives back the same value: exported databases and
// missed keys use it. The plain form is for people and other programs: reports use it.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "libtune/base/plain_text.hpp"
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

/// "none", "bool", "signed", "unsigned", "real" or "string", as stored in databases and documents.
std::string_view kind_name(value_kind kind) noexcept;
/// The kind of this name; empty for any other text.
std::optional<value_kind> find_kind(std::string_view name) noexcept;

/// The type of this name ("uint32"); empty for any other text.
std::optional<value_type> value_type_from_name(std::string_view name) noexcept;

/// The type for writing documents; members keep their order.
using json = nlohmann::ordered_json;
/// The type for reading documents. Growing an ordered object copies its members, which takes a deep
/// stack.
using input = nlohmann::json;

/// The text of a document, safe to print on a terminal: control characters are written as numbers.
/// Bytes that are not UTF-8 are replaced.
/// @param indent  spaces for each level; negative: all on one line
std::string json_text(const json& document, int indent = -1);

/// A value for other programs: null for none, "inf" and "nan" for numbers that JSON lacks.
json plain_json(const value& v);
/// One object, its members in the order of the fields: {"wgs": 64}.
json plain_json(const std::vector<named_value>& values);
/// The value of a boolean, a number or a text that other programs wrote; empty for anything else.
/// Integers are signed where they fit, so that equal ones are equal.
std::optional<value> plain_value(const input& item);
/// The number, or null if it is empty, NaN or infinite.
json number_or_null(std::optional<double> number);

/// The exact form of a value: {"text": hex} for bytes that are not UTF-8, "inf", "-inf" and "nan".
json exact_json(const value& v);
json exact_json(const std::vector<named_value>& values);
/// [{"name", "type", "optional"}]
json exact_json(const std::vector<field_description>& fields);
/// The text, or {"text": hex} if it is not UTF-8.
json text_to_json(const std::string& text);
/// The number, or "nan", "inf" or "-inf".
json real_to_json(double d);
/// True if the bytes are UTF-8 as JSON requires it: no overlong forms, no surrogates.
bool is_utf8(const std::string& text);
/// The bytes of hexadecimal digits from to_hex; empty for any other text.
std::optional<std::string> from_hex(std::string_view digits);

/// Parses a document of any origin; the result is "discarded" if it is not JSON.
/// @throws argument_error if it nests deeper than any document of libtune: copying and printing it
///         would take a deep stack
input parse_input(std::string_view text);
/// @throws argument_error that names the fault of a document, as all functions below do
[[noreturn]] void refuse_document(const std::string& reason);
/// True if arrays and objects in a text nest in more than this number of levels.
bool nests_deeper(std::string_view text, std::size_t levels) noexcept;
/// Document::parse with numbers in JSON's form whatever the thread's locale. Never pass a callback:
/// the end of each object would then visit all members before it, in quadratic time.
template <class Document = input>
Document parse_json(std::string_view text, bool throws = true) {
  const plain_locale numbers;
  return Document::parse(text, nullptr, throws);
}
/// Parses a document of libtune like parse_input: an object with this 'format' and
/// 'format_version'.
input parse_document(std::string_view text, const char* format, int version);
const input& member(const input& object, const char* name);
const input& array_member(const input& object, const char* name);
std::string bytes_from_hex(const input& digits);
std::string text_from_json(const input& item);
/// The number of "nan", "inf" and "-inf"; empty for anything else.
std::optional<double> word_for_real(const input& item);
std::int64_t signed_from_json(const input& item);
value value_from_json(const input& item, value_kind kind);
/// The fields that exact_json wrote under this name.
std::vector<field_description> fields_from_json(const input& object, const char* name);
/// The member of this name as values; it has to hold exactly these fields.
std::vector<named_value> values_from_json(const input& object, const char* name,
                                          const std::vector<field_description>& fields);

}  // namespace tune::detail
