// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tunedb/selection.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <map>
#include <span>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/json.hpp"
#include "libtune/device/devices.hpp"
#include "libtune/tune/engine/device_lease.hpp"

namespace tune::cli {
namespace {

template <class Number>
std::optional<Number> number_in(const std::string& text) {
  Number number{};
  const char* end = text.data() + text.size();
  const auto [stop, failure] = std::from_chars(text.data(), end, number);
  if (failure != std::errc{} || stop != end) return std::nullopt;
  return number;
}

std::optional<value> value_in(const std::string& text, const field_description& field) {
  const auto as_value = [](const auto& number) {
    return number ? std::optional<value>(*number) : std::nullopt;
  };
  if (field.optional && text == "none") return value{};
  switch (detail::kind_of(field.type)) {
    case detail::value_kind::boolean:
      if (text == "true" || text == "false") return text == "true";
      return std::nullopt;
    case detail::value_kind::signed_integer: return as_value(number_in<std::int64_t>(text));
    case detail::value_kind::unsigned_integer: return as_value(number_in<std::uint64_t>(text));
    case detail::value_kind::real: return as_value(number_in<double>(text));
    default: return text;
  }
}

std::pair<std::string, std::string> split_argument(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) {
    throw usage_error("'" + text + "' is no NAME=VALUE");
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace

std::string fields_of(const std::vector<field_description>& fields) {
  std::string text;
  for (const field_description& field : fields) {
    text += fmt::format("{}{} ({}{})", text.empty() ? "" : ", ", field.name,
                        value_type_name(field.type), field.optional ? ", or none" : "");
  }
  return text.empty() ? "nothing" : text;
}

void device_choice::add_to(CLI::App& command) {
  command.add_option("--device", name, "The name of a device")->type_name("NAME");
  command.add_option("--platform", platform, "Its platform")->type_name("NAME");
  command.add_option("--driver", driver, "Its driver version")->type_name("VERSION");
}

bool device_choice::fits(const device_identity& device) const {
  return (name.empty() || name == device.name) &&
         (platform.empty() || platform == device.platform) &&
         (driver.empty() || driver == device.driver_version);
}

device_identity device_choice::identity() const {
  if (!name.empty()) return {name, platform, driver, {}, {}};
  if (!platform.empty() || !driver.empty()) {
    throw usage_error("--platform and --driver are of a device: name it with --device");
  }
  return select_device().identity();
}

std::vector<device> usual_devices(const std::vector<device>& candidates) {
  std::vector<device> chosen;
  for (const device& item : candidates) {
    const bool is_there = std::ranges::any_of(chosen, [&](const device& other) {
      return hardware_name(other.info()) == hardware_name(item.info()) &&
             other.platform_name() != item.platform_name();
    });
    if (!is_there && item.kind() == best_device(candidates).kind()) chosen.push_back(item);
  }
  return chosen;
}

std::pair<std::string, std::optional<int>> split_function(const std::string& text) {
  const std::size_t at = text.rfind("__");
  if (at != std::string::npos && at > 0) {
    const auto version = number_in<int>(text.substr(at + 2));
    if (version && *version >= 0) return {text.substr(0, at), version};
  }
  return {text, std::nullopt};
}

std::optional<function_identity> find_function_if(database_reader& database,
                                                  const std::string& text) {
  const auto [name, version] = split_function(text);
  std::optional<function_identity> found;
  for (const function_identity& function : database.identities()) {  // by name and version
    if (function.name == name && (!version || *version == function.version)) found = function;
  }
  return found;
}

function_identity find_function(database_reader& database, const std::string& text) {
  const auto found = find_function_if(database, text);
  if (!found) throw nothing_found("the database has no function '" + text + "'; see tunedb list");
  return *found;
}

std::vector<named_value> parse_key(const function_identity& function,
                                   const std::vector<std::string>& texts) {
  std::map<std::string, std::string> given;
  for (const std::string& text : texts) given.insert(split_argument(text));
  std::vector<named_value> key;
  for (const field_description& field : function.key_fields) {
    const auto found = given.find(field.name);
    const auto parsed = found == given.end() ? std::nullopt : value_in(found->second, field);
    if (!parsed) {
      throw usage_error(fmt::format("the key of '{}' takes {}; --arg {}=... is {}", function.name,
                                    fields_of(function.key_fields), field.name,
                                    found == given.end() ? "missing" : "of another type"));
    }
    key.push_back({field.name, *parsed});
    given.erase(found);
  }
  if (!given.empty()) {
    throw usage_error(fmt::format("the key of '{}' takes {}, and no '{}'", function.name,
                                  fields_of(function.key_fields), given.begin()->first));
  }
  return key;
}

std::vector<field_description> inferred_key_fields(const std::vector<std::string>& texts,
                                                   const field_types& types) {
  std::vector<field_description> fields;
  for (const std::string& text : texts) {
    const auto [name, content] = split_argument(text);
    value v = content;
    if (content == "true" || content == "false") v = content == "true";
    if (const auto real = number_in<double>(content)) v = *real;
    if (const auto whole = number_in<std::uint64_t>(content)) v = *whole;
    if (const auto whole = number_in<std::int64_t>(content)) v = *whole;
    fields.push_back(infer_field(name, std::span(&v, 1), types));
  }
  return fields;
}

field_types parse_types(const std::vector<std::string>& texts) {
  field_types types;
  for (const std::string& text : texts) {
    const auto [name, type] = split_argument(text);
    try {
      types[name] = parse_field_type(type);
    } catch (const argument_error& unknown) {
      throw usage_error(unknown.what());
    }
  }
  return types;
}

void search_choice::add_to(CLI::App& command) {
  command.add_option("--search", number, "The number of a search, as trials prints it")
      ->type_name("N");
  command.add_option("--arg", arguments, "A field of the key, as NAME=VALUE; all of them or none")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  device.add_to(command);
}

std::vector<std::int64_t> search_choice::find(database_reader& database,
                                              const function_identity& function) const {
  row_choice rows = device.rows();
  if (!arguments.empty()) rows.arguments = parse_key(function, arguments);
  rows.search = number;
  std::vector<std::int64_t> found = database.find_searches(function, rows);
  if (found.empty()) throw nothing_found("the database has no such search");
  return found;
}

search_content search_choice::latest(database_reader& database,
                                     const function_identity& function) const {
  const std::vector<std::int64_t> found = find(database, function);
  for (auto number = found.rbegin(); number != found.rend(); ++number) {
    if (auto search = database.read_search(*number)) return *std::move(search);
  }
  throw nothing_found("the database has no such search");  // all were removed meanwhile
}

}  // namespace tune::cli
