// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/maintenance/json_document.hpp"

#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <span>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/sha256.hpp"
#include "libtune/extra/maintenance/json_stream.hpp"
#include "libtune/store/database/identity_column.hpp"

namespace tune {
namespace {

using detail::array_member;
using detail::exact_json;
using detail::input;
using detail::json;
using detail::member;
using detail::refuse_document;
using detail::text_from_json;
using detail::text_to_json;

constexpr const char* format_name = "libtune tuning results";
constexpr int format_version = 1;

std::string strict_text(const json& item, int indent) {
  try {
    return item.dump(indent);
  } catch (const json::exception&) {
    throw argument_error("a column of the database has a name that is not UTF-8");
  }
}

const function_identity& identity_of(const function_identity& function) { return function; }
const function_identity& identity_of(const function_content& content) { return content.function; }

json to_json(const column_value& v) {
  struct {
    json operator()(std::monostate) const { return nullptr; }
    json operator()(std::int64_t i) const { return i; }
    json operator()(double d) const {
      return std::isfinite(d) ? json(d) : json{{"real", detail::real_to_json(d)}};
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

json to_json(const search_content& search) {
  json trials = json::array();
  for (const trial_content& trial : search.trials) {
    json configuration = json::array();
    for (const named_value& item : trial.configuration) {
      configuration.push_back({text_to_json(item.name),
                               detail::kind_name(detail::kind_of(item.value)),
                               exact_json(item.value)});
    }
    trials.push_back(
        {{"configuration", std::move(configuration)}, {"columns", to_json(trial.columns)}});
  }
  return {{"columns", to_json(search.columns)}, {"trials", std::move(trials)}};
}

json to_json(const result_content& result) {
  return {{"arguments", exact_json(result.arguments)},
          {"values", exact_json(result.values)},
          {"columns", to_json(result.columns)}};
}

/// Writes the document of functions with their results and searches.
/// @param functions   any range with a function_identity each, as `identity_of` returns it
template <class Functions, class EachResult, class EachSearch>
void write_document(const detail::text_sink& to, const Functions& functions,
                    EachResult for_each_result, EachSearch for_each_search) {
  detail::json_stream document(to, 1, strict_text);
  document.begin_object();
  document.add(format_name, "format");
  document.add(format_version, "format_version");
  document.begin_array("functions");
  for (const auto& function : functions) {
    document.begin_object();
    document.add_members(exact_json(identity_of(function)));
    document.begin_array("results");
    for_each_result(function, [&](const result_content& one) { document.add(to_json(one)); });
    document.end();
    document.begin_array("searches");
    for_each_search(function, [&](const search_content& one) { document.add(to_json(one)); });
    document.end();
    document.end();
  }
  document.end();
  document.end();
  to("\n");
}

column_value column_from_json(const input& item) {
  if (item.is_null()) return {};
  if (item.is_number_integer()) return detail::signed_from_json(item);
  if (item.is_number_float()) return item.get<double>();
  if (item.is_string()) return item.get<std::string>();
  if (item.is_object() && item.contains("real")) {
    if (const auto special = detail::word_for_real(item["real"])) return *special;
  }
  if (item.is_object() && item.contains("blob")) {
    const std::string bytes = detail::bytes_from_hex(item["blob"]);
    const auto all = std::as_bytes(std::span(bytes));
    return std::vector<std::byte>(all.begin(), all.end());
  }
  return text_from_json(item);
}

column_values columns_from_json(const input& object) {
  const input& columns = member(object, "columns");
  if (!columns.is_object()) refuse_document("'columns' is no object");
  column_values result;
  for (const auto& [name, item] : columns.items()) result[name] = column_from_json(item);
  return result;
}

trial_content trial_from_json(const input& object) {
  trial_content trial{.configuration = {}, .columns = columns_from_json(object)};
  for (const input& item : array_member(object, "configuration")) {
    if (!item.is_array() || item.size() != 3)
      refuse_document("a configuration holds no [name, kind, value]");
    const std::string word = text_from_json(item[1]);
    const auto kind = detail::find_kind(word);
    if (!kind) refuse_document(fmt::format("'{}' is no kind of value", word));
    trial.configuration.push_back(
        {text_from_json(item[0]), detail::value_from_json(item[2], *kind)});
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
  content.function = detail::function_from_json(object);
  const function_identity& function = content.function;
  for (const input& item : array_member(object, "results")) {
    content.results.push_back(
        {.arguments = detail::values_from_json(item, "arguments", function.key_fields),
         .values = detail::values_from_json(item, "values", function.value_fields),
         .columns = columns_from_json(item)});
  }
  for (const input& item : array_member(object, "searches")) {
    content.searches.push_back(search_from_json(item));
  }
  return content;
}

}  // namespace

std::string to_json_document(const database_content& content) {
  std::string text;
  write_document([&](std::string_view part) { text += part; }, content.functions,
                 [](const function_content& function, const auto& write) {
                   for (const result_content& one : function.results) write(one);
                 },
                 [](const function_content& function, const auto& write) {
                   for (const search_content& one : function.searches) write(one);
                 });
  return text;
}

void write_json_document(database_reader& from, std::span<const function_identity> functions,
                         const detail::text_sink& to) {
  write_document(
      to, functions,
      [&](const function_identity& function, const auto& write) {
        from.for_each_result(function, {}, write);
      },
      [&](const function_identity& function, const auto& write) {
        for (const std::int64_t number : from.find_searches(function)) {
          if (const auto search = from.read_search(number)) write(*search);
        }
      });
}

database_content from_json_document(std::string_view text) {
  const input document = detail::parse_document(text, format_name, format_version);
  database_content content;
  for (const input& item : array_member(document, "functions")) {
    content.functions.push_back(function_from_json(item));
  }
  return content;
}

}  // namespace tune
