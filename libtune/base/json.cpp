// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/json.hpp"

#include <cmath>
#include <cstddef>
#include <fmt/format.h>
#include <limits>
#include <span>

#include "libtune/base/error.hpp"
#include "libtune/base/sha256.hpp"
#include "libtune/base/word_table.hpp"

namespace tune::detail {
namespace {

int digit_value(char c) noexcept {
  if (c >= '0' && c <= '9') return c - '0';
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

constexpr word_table<value_kind, 6> kind_words{
    {"none", "bool", "signed", "unsigned", "real", "string"}};

}  // namespace

bool nests_deeper(std::string_view text, std::size_t levels) noexcept {
  std::size_t depth = 0;
  bool in_text = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_text && c == '\\') ++i;  // the escaped character neither ends the text nor begins a pair
    if (c == '"') in_text = !in_text;
    if (in_text) continue;
    if ((c == '[' || c == '{') && ++depth > levels) return true;
    if ((c == ']' || c == '}') && depth > 0) --depth;
  }
  return false;
}

input parse_input(std::string_view text) {
  constexpr std::size_t greatest_depth = 100;
  if (nests_deeper(text, greatest_depth)) {
    throw argument_error(
        fmt::format("a document in JSON nests deeper than {} levels", greatest_depth));
  }
  return parse_json(text, false);
}

void refuse_document(const std::string& reason) {
  throw argument_error("the document cannot be read as an export of libtune: " + reason);
}

input parse_document(std::string_view text, const char* format, int version) {
  input document = parse_input(text);
  if (document.is_discarded()) refuse_document("it is not JSON");
  if (member(document, "format") != format) refuse_document("its 'format' is another");
  if (member(document, "format_version") != version) {
    refuse_document(fmt::format(
        "its 'format_version' is not {}; use the tunedb that wrote it, or a newer one", version));
  }
  return document;
}

bool is_utf8(const std::string& text) {
  try {
    static_cast<void>(json(text).dump());
    return true;
  } catch (const json::type_error&) {
    return false;
  }
}

std::optional<std::string> from_hex(std::string_view digits) {
  if (digits.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const int high = digit_value(digits[i]);
    const int low = digit_value(digits[i + 1]);
    if (high < 0 || low < 0) return std::nullopt;
    bytes += static_cast<char>(high * 16 + low);
  }
  return bytes;
}

json text_to_json(const std::string& text) {
  if (is_utf8(text)) return text;
  return {{"text", to_hex(std::as_bytes(std::span(text)))}};
}

json real_to_json(double d) {
  if (std::isfinite(d)) return d;
  return std::isnan(d) ? "nan" : d > 0 ? "inf" : "-inf";
}

std::string json_text(const json& document, int indent) {
  std::string text = document.dump(indent, ' ', false, json::error_handler_t::replace);
  // ASCII characters are valid as they are. Others occur in strings only.
  for (std::size_t at = 0; (at = text.find_first_of("\xc2\x7f", at)) != std::string::npos; ++at) {
    if (text[at] == '\x7f') {
      text.replace(at, 1, "\\u007f");
    } else if (static_cast<unsigned char>(text[at + 1]) < 0xa0) {
      text.replace(at, 2, fmt::format("\\u{:04x}", static_cast<unsigned char>(text[at + 1])));
    }
  }
  return text;
}

json plain_json(const value& v) {
  if (const auto* number = std::get_if<double>(&v)) {
    return std::isfinite(*number) ? json(*number) : json(to_string(v));
  }
  if (const auto* text = std::get_if<std::string>(&v)) return *text;
  return exact_json(v);
}

json plain_json(const std::vector<named_value>& values) {
  json object = json::object();
  for (const named_value& item : values) object[item.name] = plain_json(item.value);
  return object;
}

std::optional<value> plain_value(const input& item) {
  if (item.is_boolean()) return item.get<bool>();
  if (item.is_number_unsigned() && item.get<std::uint64_t>() > std::uint64_t{INT64_MAX}) {
    return item.get<std::uint64_t>();
  }
  if (item.is_number_integer()) return item.get<std::int64_t>();
  if (item.is_number()) return item.get<double>();
  if (item.is_string()) return item.get<std::string>();
  return std::nullopt;
}

json number_or_null(std::optional<double> number) {
  return number && std::isfinite(*number) ? json(*number) : json(nullptr);
}

json exact_json(const value& v) {
  struct {
    json operator()(std::monostate) const { return nullptr; }
    json operator()(bool b) const { return b; }
    json operator()(std::int64_t i) const { return i; }
    json operator()(std::uint64_t i) const { return i; }
    json operator()(double d) const { return real_to_json(d); }
    json operator()(const std::string& s) const { return text_to_json(s); }
  } writer;
  return std::visit(writer, v);
}

json exact_json(const std::vector<named_value>& values) {
  json object = json::object();
  for (const named_value& item : values) object[item.name] = exact_json(item.value);
  return object;
}

json exact_json(const std::vector<field_description>& fields) {
  json list = json::array();
  for (const field_description& field : fields) {
    list.push_back({{"name", field.name},
                    {"type", value_type_name(field.type)},
                    {"optional", field.optional}});
  }
  return list;
}

const input& member(const input& object, const char* name) {
  if (!object.is_object()) refuse_document(fmt::format("'{}' is not in an object", name));
  const auto found = object.find(name);
  if (found == object.end()) refuse_document(fmt::format("an object has no '{}'", name));
  return *found;
}

const input& array_member(const input& object, const char* name) {
  const input& list = member(object, name);
  if (!list.is_array()) refuse_document(fmt::format("'{}' is no array", name));
  return list;
}

std::string bytes_from_hex(const input& digits) {
  const auto* text = digits.get_ptr<const std::string*>();
  std::optional<std::string> bytes;
  if (text != nullptr) bytes = from_hex(*text);
  if (!bytes) refuse_document("bytes are not written as pairs of hexadecimal digits");
  return *bytes;
}

std::string text_from_json(const input& item) {
  if (item.is_string()) return item.get<std::string>();
  return bytes_from_hex(member(item, "text"));
}

std::optional<double> word_for_real(const input& item) {
  if (item == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (item == "inf") return std::numeric_limits<double>::infinity();
  if (item == "-inf") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

std::int64_t signed_from_json(const input& item) {
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  if (item.is_number_unsigned() && item.get<std::uint64_t>() > most) {
    refuse_document("a number is too large");
  }
  return item.get<std::int64_t>();
}

value value_from_json(const input& item, value_kind kind) {
  if (item.is_null()) return {};
  if (kind == value_kind::boolean && item.is_boolean()) return item.get<bool>();
  if (kind == value_kind::signed_integer && item.is_number_integer()) return signed_from_json(item);
  if (kind == value_kind::unsigned_integer && item.is_number_unsigned()) {
    return item.get<std::uint64_t>();
  }
  if (kind == value_kind::real) {
    if (item.is_number()) return item.get<double>();
    if (const auto special = word_for_real(item)) return *special;
  }
  if (kind == value_kind::string && !item.is_number()) return text_from_json(item);
  // Without the value itself: printing deeply nested values takes a deep stack.
  refuse_document(fmt::format("a value of the kind '{}' is of the JSON type {}", kind_name(kind),
                              item.type_name()));
}

std::vector<field_description> fields_from_json(const input& object, const char* name) {
  std::vector<field_description> fields;
  for (const input& item : array_member(object, name)) {
    const std::string type = text_from_json(member(item, "type"));
    const input& optional = member(item, "optional");
    const std::optional<value_type> known = value_type_from_name(type);
    if (!known) refuse_document(fmt::format("'{}' is not the type of a field", type));
    if (!optional.is_boolean()) refuse_document("'optional' is neither true nor false");
    fields.push_back({text_from_json(member(item, "name")), *known, optional.get<bool>()});
  }
  return fields;
}

std::vector<named_value> values_from_json(const input& object, const char* name,
                                          const std::vector<field_description>& fields) {
  const input& values = member(object, name);
  std::vector<named_value> result;
  result.reserve(fields.size());
  for (const field_description& field : fields) {
    result.push_back(
        {field.name, value_from_json(member(values, field.name.c_str()), kind_of(field.type))});
  }
  if (values.size() != fields.size())
    refuse_document(fmt::format("'{}' names an unknown field", name));
  return result;
}

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
