// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/exchange.hpp"

#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "libtune/base/error.hpp"
#include "libtune/store/field_type.hpp"
#include "libtune/store/sha256.hpp"
#include "libtune/store/utf8.hpp"

namespace tune {
namespace {

using json = nlohmann::ordered_json;
// Ordered objects copy all that is in them while they grow, which takes a deep stack.
using input = nlohmann::json;

constexpr const char* format_name = "libtune tuning results";
constexpr int format_version = 1;
// Deeper than anything in such a document; what nests deeper is left out and then missed.
constexpr int greatest_depth = 32;

[[noreturn]] void refuse(const std::string& reason) {
  throw argument_error("the document is no export of libtune that can be read: " + reason);
}

json text_to_json(const std::string& text) {
  if (detail::is_utf8(text)) return text;
  return {{"text", detail::to_hex(std::as_bytes(std::span(text)))}};
}

json real_to_json(double d) {
  if (std::isfinite(d)) return d;
  return std::isnan(d) ? "nan" : d > 0 ? "inf" : "-inf";
}

json to_json(const value& v) {
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

json to_json(const column_value& v) {
  struct {
    json operator()(std::monostate) const { return nullptr; }
    json operator()(std::int64_t i) const { return i; }
    json operator()(double d) const {
      return std::isfinite(d) ? json(d) : json{{"real", real_to_json(d)}};
    }
    json operator()(const std::string& s) const { return text_to_json(s); }
    json operator()(const std::vector<std::byte>& b) const { return {{"blob", detail::to_hex(b)}}; }
  } writer;
  return std::visit(writer, v);
}

json to_json(const column_values& columns) {
  json object = json::object();
  for (const auto& [name, v] : columns) object[name] = to_json(v);
  return object;
}

json to_json(const std::vector<named_value>& values) {
  json object = json::object();
  for (const named_value& item : values) object[item.name] = to_json(item.value);
  return object;
}

json to_json(const std::vector<field_description>& fields) {
  json list = json::array();
  for (const field_description& field : fields) {
    list.push_back({{"name", field.name},
                    {"type", value_type_name(field.type)},
                    {"optional", field.optional}});
  }
  return list;
}

json to_json(const search_content& search) {
  json trials = json::array();
  for (const trial_content& trial : search.trials) {
    json configuration = json::array();
    for (const named_value& item : trial.configuration) {
      configuration.push_back(
          {text_to_json(item.name), detail::alternative_name(item.value), to_json(item.value)});
    }
    trials.push_back(
        {{"configuration", std::move(configuration)}, {"columns", to_json(trial.columns)}});
  }
  return {{"columns", to_json(search.columns)}, {"trials", std::move(trials)}};
}

json to_json(const function_content& content) {
  json results = json::array();
  for (const result_content& result : content.results) {
    results.push_back({{"arguments", to_json(result.arguments)},
                       {"values", to_json(result.values)},
                       {"columns", to_json(result.columns)}});
  }
  json searches = json::array();
  for (const search_content& search : content.searches) searches.push_back(to_json(search));
  return {{"name", content.function.name},
          {"version", content.function.version},
          {"key_fields", to_json(content.function.key_fields)},
          {"value_fields", to_json(content.function.value_fields)},
          {"results", std::move(results)},
          {"searches", std::move(searches)}};
}

const input& member(const input& object, const char* name) {
  if (!object.is_object()) refuse(fmt::format("where '{}' is expected is no object", name));
  const auto found = object.find(name);
  if (found == object.end()) refuse(fmt::format("an object has no '{}'", name));
  return *found;
}

const input& array_member(const input& object, const char* name) {
  const input& list = member(object, name);
  if (!list.is_array()) refuse(fmt::format("'{}' is no array", name));
  return list;
}

std::string bytes_from_hex(const input& digits) {
  const auto* text = digits.get_ptr<const std::string*>();
  std::optional<std::string> bytes;
  if (text != nullptr) bytes = detail::from_hex(*text);
  if (!bytes) refuse("bytes are not written as pairs of hexadecimal digits");
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
    refuse("a number is too large");
  }
  return item.get<std::int64_t>();
}

value value_from_json(const input& item, std::string_view alternative) {
  if (item.is_null()) return {};
  if (alternative == "bool" && item.is_boolean()) return item.get<bool>();
  if (alternative == "signed" && item.is_number_integer()) return signed_from_json(item);
  if (alternative == "unsigned" && item.is_number_unsigned()) return item.get<std::uint64_t>();
  if (alternative == "real") {
    if (item.is_number()) return item.get<double>();
    if (const auto special = word_for_real(item)) return *special;
  }
  if (alternative == "string" && !item.is_number()) return text_from_json(item);
  // Not the value itself: to print what is nested deeply takes a deep stack.
  refuse(fmt::format("a value of the kind '{}' is of the JSON type {}", alternative,
                     item.type_name()));
}

column_value column_from_json(const input& item) {
  if (item.is_null()) return {};
  if (item.is_number_integer()) return signed_from_json(item);
  if (item.is_number_float()) return item.get<double>();
  if (item.is_string()) return item.get<std::string>();
  if (item.is_object() && item.contains("real")) {
    if (const auto special = word_for_real(item["real"])) return *special;
  }
  if (item.is_object() && item.contains("blob")) {
    const std::string bytes = bytes_from_hex(item["blob"]);
    const auto all = std::as_bytes(std::span(bytes));
    return std::vector<std::byte>(all.begin(), all.end());
  }
  return text_from_json(item);
}

column_values columns_from_json(const input& object) {
  const input& columns = member(object, "columns");
  if (!columns.is_object()) refuse("'columns' is no object");
  column_values result;
  for (const auto& [name, item] : columns.items()) result[name] = column_from_json(item);
  return result;
}

std::vector<field_description> fields_from_json(const input& function, const char* name) {
  std::vector<field_description> fields;
  for (const input& item : array_member(function, name)) {
    const std::string type = text_from_json(member(item, "type"));
    const input& optional = member(item, "optional");
    const std::optional<value_type> known = detail::value_type_from_name(type);
    if (!known) refuse(fmt::format("'{}' is no type of a field", type));
    if (!optional.is_boolean()) refuse("'optional' is neither true nor false");
    fields.push_back({text_from_json(member(item, "name")), *known, optional.get<bool>()});
  }
  return fields;
}

std::vector<named_value> values_from_json(const input& object, const char* name,
                                          const std::vector<field_description>& fields) {
  const input& values = member(object, name);
  std::vector<named_value> result;
  for (const field_description& field : fields) {
    result.push_back({field.name, value_from_json(member(values, field.name.c_str()),
                                                  detail::alternative_name(field.type))});
  }
  if (values.size() != fields.size()) refuse(fmt::format("'{}' names an unknown field", name));
  return result;
}

trial_content trial_from_json(const input& object) {
  trial_content trial{.configuration = {}, .columns = columns_from_json(object)};
  for (const input& item : array_member(object, "configuration")) {
    if (!item.is_array() || item.size() != 3)
      refuse("a configuration holds no [name, kind, value]");
    trial.configuration.push_back(
        {text_from_json(item[0]), value_from_json(item[2], text_from_json(item[1]))});
  }
  return trial;
}

search_content search_from_json(const input& object) {
  search_content search{.columns = columns_from_json(object), .trials = {}};
  for (const input& item : array_member(object, "trials")) {
    search.trials.push_back(trial_from_json(item));
  }
  return search;
}

function_content function_from_json(const input& object) {
  function_content content;
  function_identity& function = content.function;
  function.name = text_from_json(member(object, "name"));
  const input& version = member(object, "version");
  if (!version.is_number_unsigned() || version.get<std::uint64_t>() > 1'000'000'000) {
    refuse("'version' is no small number");
  }
  function.version = version.get<int>();
  function.key_fields = fields_from_json(object, "key_fields");
  function.value_fields = fields_from_json(object, "value_fields");
  for (const input& item : array_member(object, "results")) {
    content.results.push_back(
        {.arguments = values_from_json(item, "arguments", function.key_fields),
         .values = values_from_json(item, "values", function.value_fields),
         .columns = columns_from_json(item)});
  }
  for (const input& item : array_member(object, "searches")) {
    content.searches.push_back(search_from_json(item));
  }
  return content;
}

}  // namespace

std::string to_exchange_text(const database_content& content) {
  json functions = json::array();
  for (const function_content& item : content.functions) functions.push_back(to_json(item));
  const json document{{"format", format_name},
                      {"format_version", format_version},
                      {"functions", std::move(functions)}};
  try {
    return document.dump(1) + '\n';
  } catch (const json::exception&) {
    throw argument_error("a column of the database has a name that is not UTF-8");
  }
}

database_content from_exchange_text(std::string_view text) {
  const input document = input::parse(
      text, [](int depth, auto, auto&) { return depth < greatest_depth; }, false);
  if (document.is_discarded()) refuse("it is not JSON");
  if (member(document, "format") != format_name) refuse("its 'format' is another");
  if (member(document, "format_version") != format_version) {
    refuse(
        fmt::format("its 'format_version' is not {}; use the tunedb that wrote it, or a newer one",
                    format_version));
  }
  database_content content;
  for (const input& item : array_member(document, "functions")) {
    content.functions.push_back(function_from_json(item));
  }
  return content;
}

}  // namespace tune
