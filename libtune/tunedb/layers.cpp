// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tunedb/layers.hpp"

#include <filesystem>
#include <optional>

#include "libtune/base/error.hpp"
#include "libtune/extra/maintenance/database_reader.hpp"
#include "libtune/tune/databases.hpp"
#include "libtune/tune/settings.hpp"
#include "libtune/tunedb/selection.hpp"

namespace tune::cli {
namespace {

bool is_there(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

layer look_into(const std::string& path, std::size_t system_number, database_access access) {
  layer found{.path = path, .system = system_number > 0, .access = access};
  found.role = found.system ? "system " + std::to_string(system_number) : "user";
  try {
    if (!path.empty()) found.path = std::filesystem::absolute(path).string();
    if (found.system && !is_there(found.path)) {
      found.fault = "there is no such file";
      return found;
    }
    database_reader reader(path, access);
    found.has_tables = reader.has_tables();
    found.functions = reader.identities();
  } catch (const std::exception& failure) {
    found.fault = failure.what();
  }
  return found;
}

}  // namespace

std::string layer::state() const {
  if (!fault.empty()) return "passed over: " + fault;
  return has_tables ? "in use" : "empty";
}

std::optional<result_content> layer::any_result(const function_identity& function,
                                                const row_choice& choice) const {
  if (!can_be_used()) return std::nullopt;
  try {
    return database_reader(path, access).any_result(function, choice);
  } catch (const error&) {
    return std::nullopt;  // also if it has no such function
  }
}

std::vector<layer> find_layers(const std::string& user, const std::vector<std::string>& systems,
                               database_access user_access, const std::string& pulled) {
  std::vector<layer> layers;
  if (!user.empty()) layers.push_back(look_into(user, 0, user_access));
  std::size_t number = 0;
  for (const std::string& path : systems) {
    layers.push_back(look_into(path, ++number, database_access::immutable));
  }
  if (!pulled.empty()) {
    layers.push_back(look_into(pulled, 0, database_access::read_only));
    layers.back().role = "pulled";
  }
  return layers;
}

std::vector<layer> find_layers(const tuning_settings& settings, database_access user_access) {
  const bool has_store = !settings.shared_store.empty() && !settings.database.empty();
  return find_layers(settings.database, settings.system_databases, user_access,
                     has_store ? pulled_database_of(settings.database) : "");
}

function_identity find_function(const std::vector<layer>& layers, const std::string& text) {
  const auto [name, version] = split_function(text);
  std::optional<function_identity> found;
  for (const layer& one : layers) {
    for (const function_identity& function : one.functions) {
      if (function.name != name || (version && *version != function.version)) continue;
      if (!found || function.version > found->version) found = function;
    }
  }
  if (found) return *found;
  std::string looked_in;
  for (const layer& one : layers) {
    looked_in += (looked_in.empty() ? "" : "; ") + one.path + " is " + one.state();
  }
  throw nothing_found("the database has no function '" + text + "'; see tunedb list (" + looked_in +
                      ")");
}

json to_json(const std::vector<layer>& layers) {
  json list = json::array();
  for (const layer& one : layers) {
    list.push_back({{"role", one.role},
                    {"path", one.path},
                    {"used", one.can_be_used()},
                    {"state", one.state()}});
  }
  return list;
}

}  // namespace tune::cli
