// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tunedb/captured_items.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <optional>

#include "libtune/extra/capture.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "libtune/tunedb/key_list.hpp"
#include "libtune/tunedb/selection.hpp"

namespace tune::cli {
namespace {

/// The key in the order of a function's fields; empty if it has other fields.
std::optional<std::vector<named_value>> in_order(const function_identity& function,
                                                 const std::vector<named_value>& key) {
  std::vector<named_value> ordered;
  for (const field_description& field : function.key_fields) {
    const auto found = std::ranges::find(key, field.name, &named_value::name);
    if (found != key.end()) ordered.push_back(*found);
  }
  const bool has_all = ordered.size() == function.key_fields.size() && ordered.size() == key.size();
  return has_all ? std::optional(std::move(ordered)) : std::nullopt;
}

}  // namespace

captured_items find_captured_items(const std::filesystem::path& path,
                                   std::span<const function_identity> functions) {
  captured_keys found = find_captured_keys(path);
  captured_items made{.items = {}, .left_out = std::move(found.left_out)};
  for (const captured_key& each : found.keys) {
    const auto leave_out = [&](const std::string& reason) {
      made.left_out.push_back(
          fmt::format("'{}' ({}): {}", each.function, to_string(each.key), reason));
    };
    try {
      const function_identity& function = find_function(functions, each.function);
      if (auto key = in_order(function, each.key)) {
        made.items.push_back({function, *std::move(key), each.inputs});
      } else {
        leave_out("the application's function has other fields of the key");
      }
    } catch (const usage_error&) {
      leave_out("the application has no such function");
    }
  }
  return made;
}

std::string inputs_of_result(const std::string& database, const function_identity& function,
                             const std::vector<named_value>& key, const device_identity& device) {
  tuning_database results(database);
  const auto result = results.find(function, {key, device});
  if (!result) return {};
  const auto origin = results.origin(function, {key, device}, result->values);
  return origin ? origin->search.inputs : std::string();
}

std::vector<pretuning_item> items_to_tune(std::span<const captured_item> captured,
                                          std::span<const device> devices,
                                          const std::string& database) {
  std::vector<device_identity> kinds;
  for (const device& each : devices) {
    const device_identity identity = each.identity();
    if (std::ranges::find(kinds, identity) == kinds.end()) kinds.push_back(identity);
  }
  std::vector<pretuning_item> items;
  for (const captured_item& each : captured) {
    for (const device_identity& kind : kinds) {
      items.push_back(
          {.function = each.function,
           .key = each.key,
           .device = kind,
           .again = inputs_of_result(database, each.function, each.key, kind) != each.inputs});
    }
  }
  return items;
}

std::vector<pretuning_item> items_of(std::span<const captured_item> captured) {
  std::vector<pretuning_item> items;
  for (const captured_item& each : captured) {
    items.push_back({.function = each.function, .key = each.key, .again = true});
  }
  return items;
}

}  // namespace tune::cli
