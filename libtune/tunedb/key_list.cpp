// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tunedb/key_list.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <set>
#include <sstream>

#include "libtune/base/dtype.hpp"
#include "libtune/base/error.hpp"
#include "libtune/base/json.hpp"
#include "libtune/extra/ranged/portfolio_core.hpp"
#include "libtune/store/database/column.hpp"
#include "libtune/tunedb/selection.hpp"

namespace tune::cli {
namespace {

using detail::input;

std::string names_of(std::span<const function_identity> functions) {
  std::string text;
  for (const function_identity& function : functions) {
    text += (text.empty() ? "" : ", ") + table_name(function);
  }
  return text.empty() ? "none" : text;
}

/// Parses a real number; empty for other items.
std::optional<value> real_in(const input& item) {
  if (item.is_number()) return item.get<double>();
  if (item == "inf") return std::numeric_limits<double>::infinity();
  if (item == "-inf") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

std::optional<value> integer_in(const input& item, bool is_signed) {
  if (!item.is_number_integer()) return std::nullopt;
  if (item.is_number_unsigned()) {
    const auto number = item.get<std::uint64_t>();
    if (!is_signed) return number;
    if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) return {};
    return static_cast<std::int64_t>(number);
  }
  if (!is_signed) return std::nullopt;
  return item.get<std::int64_t>();
}

std::optional<value> value_in(const input& item, const field_description& field) {
  if (item.is_null()) return field.optional ? std::optional<value>(value{}) : std::nullopt;
  switch (detail::kind_of(field.type)) {
    case detail::value_kind::boolean:
      return item.is_boolean() ? std::optional<value>(item.get<bool>()) : std::nullopt;
    case detail::value_kind::signed_integer: return integer_in(item, true);
    case detail::value_kind::unsigned_integer: return integer_in(item, false);
    case detail::value_kind::real: return real_in(item);
    default: return item.is_string() ? std::optional<value>(item.get<std::string>()) : std::nullopt;
  }
}

value read_field(const input& item, const field_description& field) {
  const auto read = value_in(item, field);
  if (!read) {
    throw usage_error(fmt::format("the field '{}' is {}{}, and {} is none", field.name,
                                  value_type_name(field.type), field.optional ? " or null" : "",
                                  item.dump(-1, ' ', false, input::error_handler_t::replace)));
  }
  try {
    detail::check_type(field, *read);
    if (field.type == value_type::element_type && item.is_string()) {
      static_cast<void>(dtype_from_name(item.get<std::string>()));
    }
  } catch (const error& mismatch) {
    throw usage_error(fmt::format("the field '{}': {}", field.name, mismatch.what()));
  }
  return *read;
}

std::vector<named_value> read_key(const input& object, const function_identity& function) {
  if (!object.is_object()) throw usage_error("its key is no JSON object");
  std::vector<named_value> key;
  for (const field_description& field : function.key_fields) {
    const auto found = object.find(field.name);
    if (found == object.end()) {
      throw usage_error(fmt::format("the field '{}' is missing; the key takes {}", field.name,
                                    fields_of(function.key_fields)));
    }
    key.push_back({field.name, read_field(*found, field)});
  }
  for (const auto& [name, item] : object.items()) {
    if (std::ranges::find(function.key_fields, name, &field_description::name) ==
        function.key_fields.end()) {
      throw usage_error(fmt::format("there is no field '{}'; the key takes {}", name,
                                    fields_of(function.key_fields)));
    }
  }
  return key;
}

// Members that tunedb missed prints beside the key are allowed but ignored: keys are tuned for the
// devices of this machine.
void require_known_members(const input& entry) {
  static const std::set<std::string> known{"function", "version",   "key",     "arguments",
                                           "device",   "missed_at", "program", "asked"};
  for (const auto& [name, item] : entry.items()) {
    if (!known.contains(name)) {
      throw usage_error(
          fmt::format("it has '{}', where only function, version and key belong", name));
    }
  }
}

pretuning_item read_entry(const input& entry, std::span<const function_identity> functions) {
  if (!entry.is_object()) throw usage_error("it is no JSON object");
  require_known_members(entry);
  const auto name = entry.find("function");
  if (name == entry.end() || !name->is_string()) {
    throw usage_error("it does not name a function");
  }
  std::string wanted = name->get<std::string>();
  if (const auto version = entry.find("version"); version != entry.end()) {
    if (!version->is_number_unsigned()) throw usage_error("its version is no number from 0 on");
    wanted += "__" + version->dump();
  }
  const function_identity& function = find_function(functions, wanted);
  const auto key = entry.contains("key") ? entry.find("key") : entry.find("arguments");
  static const input nothing = input::object();
  return {.function = function, .key = read_key(key == entry.end() ? nothing : *key, function)};
}

input parse_lines(const std::string& text) {
  input entries = input::array();
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    input entry = detail::parse_input(line);
    if (entry.is_discarded()) entry = detail::parse_json(line);  // throws the error
    entries.push_back(std::move(entry));
  }
  return entries;
}

/// The entries of a document, or of lines that are documents.
input parse_entries(const std::string& text) {
  input whole = detail::parse_input(text);
  if (whole.is_discarded()) return parse_lines(text);
  if (whole.is_array()) return whole;
  if (whole.is_object() && whole.contains("keys") && whole["keys"].is_array()) return whole["keys"];
  return input::array({whole});
}

}  // namespace

const function_identity& find_function(std::span<const function_identity> functions,
                                       const std::string& text) {
  const auto [name, version] = split_function(text);
  const function_identity* found = nullptr;
  for (const function_identity& function : functions) {
    const bool is_named = function.name == name || own_name(function.name) == name;
    if (!is_named || (version && *version != function.version)) continue;
    if (found == nullptr || function.version > found->version) found = &function;
  }
  if (found == nullptr) {
    throw usage_error(
        fmt::format("the application has no function '{}'; it has {}", text, names_of(functions)));
  }
  return *found;
}

std::vector<pretuning_item> parse_key_list(const std::string& text,
                                           std::span<const function_identity> functions,
                                           const std::string& source) {
  input entries;
  try {
    entries = parse_entries(text);
  } catch (const argument_error& mistake) {
    throw usage_error(fmt::format("{}: {}", source, mistake.what()));
  } catch (const input::exception& mistake) {
    throw usage_error(fmt::format("{}: neither a list of keys in JSON nor one on each line: {}",
                                  source, mistake.what()));
  }
  std::vector<pretuning_item> items;
  std::set<std::string> known;
  std::size_t number = 0;
  for (const input& entry : entries) {
    ++number;
    try {
      pretuning_item item = read_entry(entry, functions);
      const std::string own = table_name(item.function) + '\n' + canonical_text(item.key);
      if (known.insert(own).second) items.push_back(std::move(item));
    } catch (const usage_error& mistake) {
      throw usage_error(fmt::format("{}: entry {}: {}", source, number, mistake.what()));
    }
  }
  return items;
}

std::size_t count_asked(const std::string& text) {
  const input entries = parse_entries(text);
  return static_cast<std::size_t>(std::ranges::count_if(entries, [](const input& entry) {
    return entry.contains("asked") && !entry["asked"].empty();
  }));
}

bool lacks_asked_sizes(const missed_key& missed, const record& found) {
  std::vector<asked_sizes> asked;
  for (const asked_count& each : missed.asked) asked.push_back({each.sizes, each.count});
  return !detail::unproven_sizes(found.values, std::move(asked)).empty();
}

missed_selection select_missed(const std::vector<missed_key>& keys,
                               std::span<const function_identity> functions) {
  missed_selection selected;
  for (const missed_key& missed : keys) {
    // A key may have been missed for another goal than the author's.
    const bool is_known = std::ranges::any_of(functions, [&](function_identity known) {
      if (own_name(known.name) != own_name(missed.function.name)) return false;
      known.name = missed.function.name;
      return known == missed.function;
    });
    if (!is_known) {
      ++selected.of_other_programs;
      continue;
    }
    selected.items.push_back({.function = missed.function,
                              .key = missed.key.arguments,
                              .device = missed.key.device,
                              .again = !missed.asked.empty()});
  }
  return selected;
}

}  // namespace tune::cli
