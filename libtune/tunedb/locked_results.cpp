// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tunedb/locked_results.hpp"

#include <fmt/format.h>
#include <fstream>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/extra/maintenance/database_reader.hpp"
#include "libtune/store/database/record.hpp"
#include "libtune/store/database/tuning_layers.hpp"
#include "libtune/tune/databases.hpp"
#include "libtune/tunedb/output.hpp"
#include "libtune/tunedb/selection.hpp"

namespace tune::cli {
namespace {

/// The first bytes distinguish JSON from a database.
bool begins_as_json(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return (file >> std::ws).peek() == '{';
}

locked_result locked(const function_identity& function, const result_content& result,
                     const tuning_layers& layers) {
  locked_result made{.arguments = result.arguments,
                     .values = result.values,
                     .device = result.device(),
                     .score_ns = result.score_ns(),
                     .tuned_at = text_of(result.columns, "tuned_at"),
                     .programs = {},
                     .library_version = {}};
  const auto found = layers.find(function, {made.arguments, made.device});
  if (!found || found->values != made.values) return made;
  if (auto origin = layers.origin(function, made.arguments, *found)) {
    made.programs = std::move(origin->programs);
    made.library_version = std::move(origin->search.library_version);
  }
  return made;
}

}  // namespace

tuning_lock lock_of_database(const std::string& path, const result_filter& is_wanted) {
  database_reader database(path, database_access::read_only);
  if (!database.has_tables()) throw nothing_found("there is no database '" + path + "'");
  const auto layers = open_layers(path, {}, database_access::read_only);
  std::vector<locked_function> functions;
  for (const function_identity& function : database.identities()) {
    locked_function one{.function = function, .results = {}};
    database.for_each_result(function, {}, [&](const result_content& result) {
      if (is_prior(result.device()) || !is_wanted(function, result)) return;
      one.results.push_back(locked(function, result, *layers));
    });
    if (!one.results.empty()) functions.push_back(std::move(one));
  }
  return tuning_lock(std::move(functions));
}

tuning_lock read_lock(const std::string& path) {
  try {
    return tuning_lock::from_json(read_file(path));
  } catch (const argument_error& fault) {
    throw error(fmt::format("'{}' is no lock: {}", path, fault.what()));
  }
}

tuning_lock read_lock_or_database(const std::string& path) {
  if (begins_as_json(path)) return read_lock(path);
  return lock_of_database(path, [](const auto&, const auto&) { return true; });
}

bool result_difference::is_other_kernel() const {
  return has_both() && before->values == after->values && !before->programs.empty() &&
         !after->programs.empty() && before->library_version == after->library_version &&
         before->programs != after->programs;
}

std::vector<result_difference> differences(const tuning_lock& before, const tuning_lock& after) {
  std::vector<result_difference> all;
  for (const locked_function& one : before.functions()) {
    for (const locked_result& result : one.results) {
      const result_difference each{
          .function = one.function,
          .before = &result,
          .after = after.find(one.function, {result.arguments, result.device})};
      if (each.after == nullptr || each.is_other_tuning() || each.is_other_kernel()) {
        all.push_back(each);
      }
    }
  }
  for (const locked_function& one : after.functions()) {
    for (const locked_result& result : one.results) {
      if (before.find(one.function, {result.arguments, result.device}) != nullptr) continue;
      all.push_back({.function = one.function, .before = nullptr, .after = &result});
    }
  }
  return all;
}

}  // namespace tune::cli
