// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/stored_trial.hpp"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Exception.h>
#include <SQLiteCpp/Statement.h>
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <limits>
#include <optional>
#include <sqlite3.h>
#include <sstream>
#include <utility>

#include "libtune/base/json.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/store/database/schema.hpp"

namespace tune::detail {
namespace {

[[noreturn]] void throw_unreadable(const char* column, const std::string& text,
                                   const char* expected) {
  throw SQLite::Exception(
      std::string("column ") + column + " holds '" + text + "', which is not a valid " + expected,
      SQLITE_MISMATCH);
}

json configured_json(const value& v) {
  if (const auto* number = std::get_if<std::uint64_t>(&v)) return {{"unsigned", *number}};
  const auto* real = std::get_if<double>(&v);
  if (real != nullptr && !std::isfinite(*real)) return {{"real", real_to_json(*real)}};
  return exact_json(v);
}

/// Reads a value that JSON lacks, from its object of one member; empty for any other object.
std::optional<value> value_from_object(const json& item) {
  if (item.size() != 1) return std::nullopt;
  const auto member = item.begin();
  const std::string& kind = member.key();
  const json& inner = member.value();
  if (kind == "unsigned" && inner.is_number_unsigned()) return inner.get<std::uint64_t>();
  if (!inner.is_string()) return std::nullopt;
  const auto text = inner.get<std::string>();
  if (kind == "real") return word_for_real(input(text));
  if (kind == "text") return from_hex(text);
  return std::nullopt;
}

std::optional<value> configured_value(const json& item) {
  constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
  switch (item.type()) {
    case json::value_t::null: return value();
    case json::value_t::boolean: return item.get<bool>();
    case json::value_t::number_integer: return item.get<std::int64_t>();
    case json::value_t::number_unsigned:
      if (item.get<std::uint64_t>() > most) return std::nullopt;
      return item.get<std::int64_t>();
    case json::value_t::number_float: return item.get<double>();
    case json::value_t::string: return item.get<std::string>();
    case json::value_t::object: return value_from_object(item);
    default: return std::nullopt;
  }
}

std::vector<double> parse_samples(const std::string& text) {
  const auto list = parse_json(text, false);
  const auto is_number = [](const input& item) { return item.is_number(); };
  if (!list.is_array() || !std::ranges::all_of(list, is_number)) {
    throw_unreadable("samples_ns", text, "list of numbers");
  }
  return list.get<std::vector<double>>();
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

using sql_row = SQLite::Statement;
using sql_cell = SQLite::Column;

/// Stores one part of a trial in a column of libtune_trial.
struct trial_column {
  const char* name;
  void (*bind)(sql_row& statement, int parameter, const stored_trial& trial);
  void (*read)(const sql_cell& column, stored_trial& trial);
};

template <auto Member>
constexpr trial_column text_column(const char* name) {
  return {name, [](sql_row& to, int n, const stored_trial& trial) { to.bind(n, trial.*Member); },
          [](const sql_cell& from, stored_trial& trial) { trial.*Member = from.getString(); }};
}

template <auto Member>
constexpr trial_column time_column(const char* name) {
  return {name,
          [](sql_row& to, int n, const stored_trial& trial) {
            if (trial.*Member) to.bind(n, *(trial.*Member));
          },
          [](const sql_cell& from, stored_trial& trial) {
            if (!from.isNull()) trial.*Member = from.getDouble();
          }};
}

constexpr std::array trial_columns{
    trial_column{"configuration",
                 [](sql_row& to, int n, const stored_trial& trial) {
                   to.bind(n, configuration_to_json(trial.configuration));
                 },
                 [](const sql_cell& from, stored_trial& trial) {
                   trial.configuration = configuration_from_json(from.getString());
                 }},
    text_column<&stored_trial::outcome>("outcome"),
    text_column<&stored_trial::message>("message"),
    time_column<&stored_trial::score_ns>("score_ns"),
    trial_column{"samples_ns",
                 [](sql_row& to, int n, const stored_trial& trial) {
                   to.bind(n, json(trial.samples_ns).dump());
                 },
                 [](const sql_cell& from, stored_trial& trial) {
                   trial.samples_ns = parse_samples(from.getString());
                 }},
    trial_column{"preparation_ns",
                 [](sql_row& to, int n, const stored_trial& trial) {
                   to.bind(n, static_cast<std::int64_t>(trial.preparation.count()));
                 },
                 [](const sql_cell& from, stored_trial& trial) {
                   trial.preparation = std::chrono::nanoseconds(from.getInt64());
                 }},
    trial_column{
        "remembered",
        [](sql_row& to, int n, const stored_trial& trial) { to.bind(n, trial.remembered ? 1 : 0); },
        [](const sql_cell& from, stored_trial& trial) { trial.remembered = from.getInt() != 0; }},
    trial_column{
        "programs",
        [](sql_row& to, int n, const stored_trial& trial) { to.bind(n, joined(trial.programs)); },
        [](const sql_cell& from, stored_trial& trial) {
          trial.programs = split(from.getString());
        }},
    time_column<&stored_trial::score_lower_ns>("score_lower_ns"),
    time_column<&stored_trial::score_upper_ns>("score_upper_ns"),
    trial_column{"level",
                 [](sql_row& to, int n, const stored_trial& trial) {
                   if (trial.level != 1) to.bind(n, trial.level);
                 },
                 [](const sql_cell& from, stored_trial& trial) {
                   if (!from.isNull()) trial.level = from.getDouble();
                 }},
    trial_column{
        "made_at",
        [](sql_row& to, int n, const stored_trial& trial) {
          if (!trial.made_at.empty()) to.bind(n, trial.made_at);
        },
        [](const sql_cell& from, stored_trial& trial) { trial.made_at = from.getString(); }},
};

constexpr int first_trial_column = 2;

}  // namespace

std::string configuration_to_json(const std::vector<named_value>& configuration) {
  json object = json::object();
  for (const named_value& item : configuration) object[item.name] = configured_json(item.value);
  return object.dump();
}

std::vector<named_value> configuration_from_json(const std::string& text) {
  // A deeper ordered object would take a deep stack.
  if (nests_deeper(text, 2)) throw_unreadable("configuration", text, "object of values");
  const json object = parse_json<json>(text, false);
  if (!object.is_object()) throw_unreadable("configuration", text, "object");
  std::vector<named_value> configuration;
  for (const auto& [name, item] : object.items()) {
    std::optional<value> v = configured_value(item);
    if (!v) throw_unreadable("configuration", text, "object of values");
    configuration.push_back({name, *std::move(v)});
  }
  return configuration;
}

std::string space_to_json(const stored_space& space) {
  json removals = json::array();
  for (const auto& one : space.removals) {
    removals.push_back(json::array({text_to_json(one.name), one.what}));
  }
  json parameters = json::array();
  for (const auto& one : space.parameters) {
    json candidates = json::array();
    for (const value& candidate : one.what) candidates.push_back(configured_json(candidate));
    parameters.push_back(json::array({text_to_json(one.name), std::move(candidates)}));
  }
  return json{{"combinations", space.combinations},
              {"configurations", space.configurations},
              {"removals", std::move(removals)},
              {"parameters", std::move(parameters)}}
      .dump();
}

namespace {

/// @throws json::exception for any other number, which cannot be converted
std::size_t count_in(const json& item) { return item.get_ref<const json::number_unsigned_t&>(); }

}  // namespace

std::optional<stored_space> space_from_json(const std::string& text) {
  if (nests_deeper(text, 5)) return std::nullopt;
  const auto as_text = [](const json& item) {
    return std::get<std::string>(configured_value(item).value());
  };
  try {
    const json object = parse_json<json>(text);
    stored_space space{.combinations = count_in(object.at("combinations")),
                       .configurations = count_in(object.at("configurations")),
                       .removals = {},
                       .parameters = {}};
    for (const json& one : object.at("removals")) {
      space.removals.push_back({as_text(one.at(0)), count_in(one.at(1))});
    }
    for (const json& one : object.at("parameters")) {
      auto& made = space.parameters.emplace_back();
      made.name = as_text(one.at(0));
      for (const json& candidate : one.at(1)) {
        made.what.push_back(configured_value(candidate).value());
      }
    }
    return space;
  } catch (const json::exception&) {
  } catch (const std::bad_optional_access&) {
  } catch (const std::bad_variant_access&) {
  }
  return std::nullopt;
}

std::string metrics_to_json(const std::vector<metric>& metrics) {
  json list = json::array();
  for (const metric& item : metrics) {
    json entry{item.name, number_or_null(item.value)};
    if (!item.unit.empty()) entry.push_back(text_to_json(item.unit));
    list.push_back(std::move(entry));
  }
  return list.dump();
}

std::vector<metric> metrics_from_json(const std::string& text) {
  std::vector<metric> metrics;
  if (nests_deeper(text, 100)) return metrics;  // a document that is read must not nest deeper
  const auto list = parse_json(text, false);
  if (!list.is_array()) return metrics;
  for (const input& entry : list) {
    const bool has_value = entry.is_array() && entry.size() >= 2 && entry[0].is_string() &&
                           (entry[1].is_number() || entry[1].is_null());
    if (!has_value) continue;
    const double unknown = std::numeric_limits<double>::quiet_NaN();
    metric item{.name = entry[0].get<std::string>(),
                .value = entry[1].is_null() ? unknown : entry[1].get<double>()};
    if (entry.size() > 2 && entry[2].is_string()) item.unit = entry[2].get<std::string>();
    metrics.push_back(std::move(item));
  }
  return metrics;
}

const row_layout& metrics_layout() {
  static const never_destroyed<row_layout> layout(
      row_layout{"libtune_metrics", {"search_id", "position", metrics_column}});
  return *layout;
}

const row_layout& trial_layout() {
  static const never_destroyed<row_layout> layout([] {
    row_layout trials{"libtune_trial", {"search_id", "position"}};
    for (const trial_column& column : trial_columns) trials.columns.emplace_back(column.name);
    return trials;
  }());
  return *layout;
}
std::string insert_trial_sql() {
  const row_layout& layout = trial_layout();
  const std::string made_at =
      fmt::format("coalesce(?{}, {})", layout.columns.size(), current_time_sql);
  return layout.insert("INSERT OR REPLACE", {{"made_at", made_at}});
}

void bind_trial(SQLite::Statement& insert, const stored_trial& trial) {
  int parameter = first_trial_column;
  for (const trial_column& column : trial_columns) column.bind(insert, ++parameter, trial);
}

stored_trial read_trial_row(SQLite::Statement& selected) {
  stored_trial trial;
  int number = first_trial_column;
  for (const trial_column& column : trial_columns) {
    column.read(selected.getColumn(number++), trial);
  }
  return trial;
}

}  // namespace tune::detail
