// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/maintenance/database_content.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <utility>

#include "libtune/base/plain_text.hpp"
#include "libtune/base/sha256.hpp"
#include "libtune/store/database/function_table.hpp"
#include "libtune/store/database/identity_column.hpp"
#include "libtune/store/database/stored_trial.hpp"
#include "libtune/store/database/trial_log.hpp"

namespace tune {
namespace {

std::string counted(const std::string& text) { return fmt::format("{}:{}", text.size(), text); }

std::optional<double> number_in(const column_values& columns, const std::string& name) {
  const auto found = columns.find(name);
  if (found == columns.end()) return std::nullopt;
  if (const auto* real = std::get_if<double>(&found->second)) return *real;
  if (const auto* integer = std::get_if<std::int64_t>(&found->second)) {
    return static_cast<double>(*integer);
  }
  return std::nullopt;
}

device_identity device_in(const column_values& columns) {
  device_identity device;
  for (const identity_column& column : identity_columns()) {
    const auto found = columns.find(column.name);
    if (found == columns.end()) continue;
    const auto* text = std::get_if<std::string>(&found->second);
    const auto* number = std::get_if<std::int64_t>(&found->second);
    const bool is_text = std::holds_alternative<std::string>(column.get(device));
    if (is_text && text != nullptr) column.set(device, *text);
    if (!is_text && number != nullptr) column.set(device, *number);
  }
  return device;
}

// True for the values that a database without the column would have.
bool says_nothing(const column_value& v) {
  return v == column_value() || v == column_value(std::int64_t{0}) ||
         v == column_value(std::string());
}

std::string digest_of(const result_content& result) {
  const std::string text = canonical_text(result);
  return detail::to_hex(detail::sha256(std::as_bytes(std::span(text))));
}

template <class Item, class Text>
std::string sorted_texts(const std::vector<Item>& items, Text text_of_item) {
  std::vector<std::string> texts;
  for (const Item& item : items) texts.push_back(text_of_item(item));
  std::ranges::sort(texts);
  std::string all;
  for (const std::string& text : texts) all += counted(text);
  return counted(all);
}

std::string function_text(const function_content& content) {
  const auto text = [](const auto& item) { return canonical_text(item); };
  return counted(table_name(content.function)) +
         counted(detail::describe_columns(content.function)) + sorted_texts(content.results, text) +
         sorted_texts(content.searches, text);
}

}  // namespace

std::string text_of(const column_values& columns, const std::string& name) {
  const auto found = columns.find(name);
  const auto* text = found == columns.end() ? nullptr : std::get_if<std::string>(&found->second);
  return text == nullptr ? std::string() : *text;
}

device_identity result_content::device() const { return device_in(columns); }
device_identity search_content::device() const { return device_in(columns); }
std::optional<double> result_content::score_ns() const { return number_in(columns, "score_ns"); }
std::optional<double> trial_content::score_ns() const { return number_in(columns, "score_ns"); }
std::optional<double> trial_content::score_lower_ns() const {
  return number_in(columns, "score_lower_ns");
}
std::optional<double> trial_content::score_upper_ns() const {
  return number_in(columns, "score_upper_ns");
}

std::vector<double> trial_content::samples_ns() const {
  const auto json = detail::parse_json(text_of(columns, "samples_ns"), false);
  const auto is_number = [](const nlohmann::json& item) { return item.is_number(); };
  if (!json.is_array() || !std::ranges::all_of(json, is_number)) return {};
  return json.get<std::vector<double>>();
}

std::vector<metric> trial_content::metrics() const {
  return detail::metrics_from_json(text_of(columns, detail::metrics_column));
}

column_values search_columns(const std::vector<named_value>& arguments,
                             const device_identity& device) {
  return {{"arguments", to_string(arguments)},
          {"arguments_canonical", detail::canonical_arguments(arguments)},
          {"device_canonical", canonical_text(device)},
          {"device_name", device.name},
          {"device_platform", device.platform},
          {"device_version", device.driver_version}};
}

column_values device_columns(const device_identity& device) {
  column_values columns;
  for (const identity_column& column : identity_columns()) {
    const value v = column.get(device);
    if (const auto* text = std::get_if<std::string>(&v)) columns[column.name] = *text;
    if (const auto* number = std::get_if<std::int64_t>(&v)) columns[column.name] = *number;
  }
  return columns;
}

std::string canonical_text(const column_value& v) {
  struct {
    std::string operator()(std::monostate) const { return "n"; }
    std::string operator()(std::int64_t i) const { return fmt::format("i{}", i); }
    std::string operator()(double d) const { return "f" + detail::exact_text(d); }
    std::string operator()(const std::string& s) const { return "s" + counted(s); }
    std::string operator()(const std::vector<std::byte>& b) const {
      return "b" + detail::to_hex(b);
    }
  } writer;
  return std::visit(writer, v);
}

std::string canonical_text(const column_values& columns) {
  std::string text;
  for (const auto& [name, v] : columns) {
    if (says_nothing(v)) continue;
    text += counted(name) + "=" + canonical_text(v) + ";";
  }
  return counted(text);
}

std::string canonical_text(const result_content& result) {
  return counted(canonical_text(result.arguments)) + counted(canonical_text(result.values)) +
         canonical_text(result.columns);
}

std::string canonical_text(const search_content& search) {
  std::string text = canonical_text(search.columns);
  for (const trial_content& trial : search.trials) {
    text += counted(canonical_text(trial.configuration)) + canonical_text(trial.columns);
  }
  return text;
}

std::string canonical_text(const database_content& content) {
  return sorted_texts(content.functions, function_text);
}

bool wins_over(const result_content& a, const result_content& b, bool by_time) {
  const std::optional<double> mine = a.score_ns();
  const std::optional<double> other = b.score_ns();
  if (mine.has_value() != other.has_value()) return mine.has_value();
  const std::string made = text_of(a.columns, "tuned_at");
  const std::string others = text_of(b.columns, "tuned_at");
  if (!by_time && made != others) return made > others;
  if (by_time && mine && *mine != *other) return *mine < *other;
  return digest_of(a) < digest_of(b);
}

void join_functions(database_content& content) {
  std::vector<function_content> joined;
  std::map<std::string, std::vector<std::size_t>> places;  // by table, which may have two forms
  for (function_content& one : content.functions) {
    std::vector<std::size_t>& of_table = places[table_name(one.function)];
    const auto equal = std::ranges::find_if(
        of_table, [&](std::size_t place) { return joined[place].function == one.function; });
    if (equal == of_table.end()) {
      of_table.push_back(joined.size());
      joined.push_back(std::move(one));
      continue;
    }
    std::ranges::move(one.results, std::back_inserter(joined[*equal].results));
    std::ranges::move(one.searches, std::back_inserter(joined[*equal].searches));
  }
  content.functions = std::move(joined);
}

}  // namespace tune
