// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/formats/t4_members.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>
#include <limits>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/extra/formats/python_json.hpp"

namespace tune::detail::t4 {
namespace {

// The outcomes and T4's words for them. A word of T4 is read as the outcome of its first line.
constexpr std::array<std::pair<std::string_view, std::string_view>, 8> invalidities{{
    {measured, "correct"},
    {"compile failed", "compile"},
    {"skipped", "constraints"},
    {"over a device limit", "constraints"},
    {"unfit", "constraints"},
    {"launch failed", "runtime"},
    {"wrong result", "correctness"},
    {"timed out", "timeout"},
}};

}  // namespace

void refuse_t4(const std::string& reason) {
  throw argument_error("the file is no T4 file that can be read: " + reason);
}

const input& member_of(const input& object, const char* name) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  if (found == object.end()) refuse_t4(fmt::format("there is no '{}' where one is expected", name));
  return *found;
}

std::string text_member(const input& object, const char* name) {
  const input& text = member_of(object, name);
  if (!text.is_string()) refuse_t4(fmt::format("'{}' is no text", name));
  return text.get<std::string>();
}

input parse_t4(std::string_view text) {
  input document = parse_python_json(text);
  if (document.is_discarded() || !document.is_object()) refuse_t4("it is no JSON object");
  if (!member_of(document, "results").is_array()) refuse_t4("'results' is no array");
  return document;
}

std::string_view invalidity_of(std::string_view outcome) {
  const auto* found = std::ranges::find(invalidities, outcome,
                                        &std::pair<std::string_view, std::string_view>::first);
  return found == invalidities.end() ? "runtime" : found->second;
}

std::string_view outcome_of(std::string_view invalidity) {
  const auto* found = std::ranges::find(invalidities, invalidity,
                                        &std::pair<std::string_view, std::string_view>::second);
  if (found == invalidities.end()) refuse_t4(fmt::format("'{}' is no invalidity", invalidity));
  return found->first;
}

std::optional<double> nanoseconds_of(std::string_view unit) {
  static constexpr std::array<std::pair<std::string_view, double>, 12> units{{{"miliseconds", 1e6},
                                                                              {"milliseconds", 1e6},
                                                                              {"Milliseconds", 1e6},
                                                                              {"ms", 1e6},
                                                                              {"seconds", 1e9},
                                                                              {"Seconds", 1e9},
                                                                              {"s", 1e9},
                                                                              {"microseconds", 1e3},
                                                                              {"Microseconds", 1e3},
                                                                              {"us", 1e3},
                                                                              {"Nanoseconds", 1},
                                                                              {"ns", 1}}};
  const auto* const found =
      std::ranges::find(units, unit, &std::pair<std::string_view, double>::first);
  if (unit == "nanoseconds") return 1;
  return found == units.end() ? std::nullopt : std::optional(found->second);
}

bool is_time_name(const std::string& name) { return name == "time" || name == "TotalDuration"; }

std::string text_or_nothing(const input& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

input list_or_nothing(const input& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return input::array();
  if (!found->is_array()) refuse_t4(fmt::format("'{}' is no array", name));
  return *found;
}

namespace {

/// The unit of a measurement of the time in the first results; empty if none has one.
std::string measured_unit(const input& results) {
  for (const input& result : results) {
    for (const input& item : list_or_nothing(result, "measurements")) {
      const std::string unit = item.is_object() ? text_or_nothing(item, "unit") : "";
      if (is_time_name(text_or_nothing(item, "name")) && !unit.empty()) return unit;
    }
  }
  return {};
}

}  // namespace

double unit_of(const input& document) {
  std::string unit;
  const auto metadata = document.find("metadata");
  if (metadata != document.end() && metadata->is_object() && metadata->contains("timeunit")) {
    unit = text_member(*metadata, "timeunit");
  } else {
    unit = measured_unit(document["results"]);
    if (unit.empty()) return written_unit;
  }
  const std::optional<double> found = nanoseconds_of(unit);
  if (!found) refuse_t4(fmt::format("'{}' is no unit of time", unit));
  return *found;
}

std::vector<double> samples_from(const input& times, double unit) {
  std::vector<double> samples;
  if (!times.contains("runtimes") || times["runtimes"].is_null()) return samples;
  for (const input& time : times["runtimes"]) {
    const std::optional<double> number = real_in(time);
    if (!number) refuse_t4("'runtimes' holds what is no number");
    const double ns = *number * unit;
    if (std::isfinite(ns)) samples.push_back(ns);
  }
  return samples;
}

value value_from(const input& item, std::optional<value_kind> kind) {
  const auto may_be = [&](value_kind wanted) { return !kind || *kind == wanted; };
  if (item.is_null()) return {};
  if (item.is_boolean() && may_be(value_kind::boolean)) return item.get<bool>();
  if (item.is_number_unsigned()) {
    const auto number = item.get<std::uint64_t>();
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (kind == value_kind::unsigned_integer || (!kind && number > most)) return number;
  }
  if (item.is_number_integer() && may_be(value_kind::signed_integer)) {
    return item.get<std::int64_t>();
  }
  if (item.is_number() && may_be(value_kind::real)) return item.get<double>();
  if (!item.is_string()) refuse_t4("a configuration holds a value of another type than its field");
  const std::string text = item.get<std::string>();
  if (kind != value_kind::real) return text;
  if (const auto number = word_for_real(item)) return *number;
  refuse_t4(fmt::format("'{}' is no number", text));
}

}  // namespace tune::detail::t4
