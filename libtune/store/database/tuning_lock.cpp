// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/tuning_lock.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tuple>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/json.hpp"
#include "libtune/store/database/identity_column.hpp"

namespace tune {
namespace {

using detail::array_member;
using detail::exact_json;
using detail::input;
using detail::json;
using detail::member;
using detail::text_from_json;
using detail::text_to_json;

constexpr const char* format_name = "libtune tuning lock";
constexpr int format_version = 1;

std::string place_name(const function_identity& function, const std::vector<named_value>& arguments,
                       const device_identity& device) {
  return table_name(function) + '\n' + canonical_text(arguments) + '\n' + canonical_text(device);
}

bool has_same_fields(const function_identity& a, const function_identity& b) {
  return a.key_fields == b.key_fields && a.value_fields == b.value_fields;
}

void sort(std::vector<locked_function>& functions) {
  const auto by_name = [](const locked_function& one) {
    return std::tie(one.function.name, one.function.version);
  };
  std::ranges::sort(functions, {}, by_name);
  for (locked_function& one : functions) {
    std::ranges::sort(one.results, {}, [](const locked_result& result) {
      return std::pair(canonical_text(result.device), canonical_text(result.arguments));
    });
  }
}

json to_json(const locked_result& result) {
  json programs = json::array();
  for (const std::string& digest : result.programs) programs.push_back(digest);
  return {{"arguments", exact_json(result.arguments)},
          {"values", exact_json(result.values)},
          {"device", exact_json(result.device)},
          {"score_ns", detail::number_or_null(result.score_ns)},
          {"tuned_at", text_to_json(result.tuned_at)},
          {"programs", std::move(programs)},
          {"library_version", text_to_json(result.library_version)}};
}

locked_result result_from_json(const input& object, const function_identity& function) {
  locked_result result{
      .arguments = detail::values_from_json(object, "arguments", function.key_fields),
      .values = detail::values_from_json(object, "values", function.value_fields),
      .device = detail::device_from_json(member(object, "device")),
      .score_ns = {},
      .tuned_at = text_from_json(member(object, "tuned_at")),
      .programs = {},
      .library_version = text_from_json(member(object, "library_version"))};
  const input& score = member(object, "score_ns");
  if (score.is_number()) result.score_ns = score.get<double>();
  for (const input& digest : array_member(object, "programs")) {
    result.programs.push_back(text_from_json(digest));
  }
  return result;
}

}  // namespace

tuning_lock::tuning_lock(std::vector<locked_function> functions)
    : functions_(std::move(functions)) {
  sort(functions_);
  for (std::size_t f = 0; f < functions_.size(); ++f) {
    const function_identity& function = functions_[f].function;
    check_function_names(function);
    if (f > 0 && table_name(functions_[f - 1].function) == table_name(function)) {
      throw argument_error(
          fmt::format("the lock has {} version {} twice", function.name, function.version));
    }
    for (std::size_t r = 0; r < functions_[f].results.size(); ++r) {
      const locked_result& result = functions_[f].results[r];
      const bool is_new =
          places_.emplace(place_name(function, result.arguments, result.device), place{f, r})
              .second;
      if (is_new) continue;
      throw argument_error(fmt::format("the lock has two results of {} version {} for {} on '{}'",
                                       function.name, function.version, to_string(result.arguments),
                                       result.device.name));
    }
  }
}

tuning_lock tuning_lock::from_json(std::string_view text) {
  const input document = detail::parse_document(text, format_name, format_version);
  std::vector<locked_function> functions;
  for (const input& item : array_member(document, "functions")) {
    locked_function one{.function = detail::function_from_json(item), .results = {}};
    for (const input& result : array_member(item, "results")) {
      one.results.push_back(result_from_json(result, one.function));
    }
    functions.push_back(std::move(one));
  }
  return tuning_lock(std::move(functions));
}

std::string tuning_lock::to_json() const {
  json functions = json::array();
  for (const locked_function& one : functions_) {
    json object = exact_json(one.function);
    json results = json::array();
    for (const locked_result& result : one.results) results.push_back(tune::to_json(result));
    object["results"] = std::move(results);
    functions.push_back(std::move(object));
  }
  const json document{{"format", format_name},
                      {"format_version", format_version},
                      {"functions", std::move(functions)}};
  return detail::json_text(document, 1) + '\n';
}

const locked_function* tuning_lock::find_function(const function_identity& function) const {
  const auto found = std::ranges::find_if(functions_, [&](const locked_function& one) {
    return one.function.name == function.name && one.function.version == function.version;
  });
  return found == functions_.end() ? nullptr : &*found;
}

const locked_result* tuning_lock::find(const function_identity& function,
                                       const record_key& key) const {
  const auto found = places_.find(place_name(function, key.arguments, key.device));
  if (found == places_.end()) return nullptr;
  const locked_function& of = functions_[found->second.function];
  return has_same_fields(of.function, function) ? &of.results[found->second.result] : nullptr;
}

std::string tuning_lock::absence(const function_identity& function, const record_key& key) const {
  const locked_function* of = find_function(function);
  if (of == nullptr) {
    std::vector<int> versions;
    for (const locked_function& one : functions_) {
      if (one.function.name == function.name) versions.push_back(one.function.version);
    }
    if (versions.empty()) return fmt::format("it has nothing of {}", function.name);
    return fmt::format("it has version {} of {}, not version {}", fmt::join(versions, ", "),
                       function.name, function.version);
  }
  if (!has_same_fields(of->function, function)) {
    return fmt::format(
        "the key or the tuning of {} version {} has other fields than when it was locked",
        function.name, function.version);
  }
  std::vector<device_identity> devices;
  for (const locked_result& result : of->results) {
    if (result.arguments == key.arguments) devices.push_back(result.device);
  }
  if (devices.empty()) return "it has this function, but not this key";
  const nearest_match nearest = rank_nearest(devices, key.device).front();
  return fmt::format("it has this key for device '{}', which differs in {}",
                     devices[nearest.index].name, fmt::join(nearest.relaxed, ", "));
}

}  // namespace tune
