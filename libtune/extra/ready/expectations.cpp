// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/ready/expectations.hpp"

#include <algorithm>
#include <ctime>
#include <optional>
#include <string>

#include "libtune/store/database/identity_column.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "libtune/tune/databases.hpp"
#include "libtune/tune/key_lookup.hpp"

namespace tune::detail {
namespace {

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// The part of its time that a configuration loses against the best of a search; empty if the
/// search has no time of it.
std::optional<double> gain_in(const similar_result& search,
                              const std::vector<named_value>& configuration) {
  std::optional<double> best;
  std::optional<double> own;
  for (const stored_trial& each : search.trials) {
    if (!each.score_ns) continue;
    const double time = *each.score_ns / each.level;
    if (!best || time < *best) best = time;
    if (each.configuration == configuration) own = time;
  }
  return own ? std::optional(1 - *best / *own) : std::nullopt;
}

/// A time of the database, in seconds since the epoch.
std::optional<double> time_in(const std::string& text) {
  std::tm date{};
  const char* const end = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &date);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return static_cast<double>(::timegm(&date));
}

/// The seconds that a search has taken, to a second; empty if it is not in the database.
std::optional<double> seconds_of(tuning_database& database, const function_identity& function,
                                 const record_key& key) {
  std::optional<stored_search> search;
  warn_on_database_error(
      [&] { search = database.latest_search_result(function, key, read_at_a_time); });
  if (!search || !search->finished_at) return std::nullopt;
  const auto begin = time_in(search->started_at);
  const auto end = time_in(*search->finished_at);
  if (!begin || !end) return std::nullopt;
  return std::max(*end - *begin, 0.5);
}

}  // namespace

search_expectation expect(const tuning_layers& layers, const function_identity& function,
                          const record_key& key, const std::vector<named_value>& served,
                          bool is_nearest) {
  similar_query query;
  query.device_distance = [&](const device_identity& device) {
    return std::optional(device == key.device ? 0.0 : 1.0);
  };
  query.key_distance = [&](const std::vector<named_value>& arguments) {
    return arguments == key.arguments ? 0.0 : 1.0;
  };
  std::vector<similar_result> similar;
  warn_on_database_error([&] { similar = layers.similar(function, query); });
  std::vector<double> gains;
  std::vector<double> paces;
  constexpr std::size_t most_paces = 5;  // of the nearest
  for (const similar_result& each : similar) {
    if (const auto gain = gain_in(each, served)) gains.push_back(*gain);
    if (const auto& database = layers.user(); database && paces.size() < most_paces) {
      const auto time = seconds_of(*database, function, {each.arguments, each.device});
      if (time) paces.push_back(*time);
    }
  }
  search_expectation expected{.gain = is_nearest ? gain_on_nearest : gain_on_default,
                              .pace = default_pace};
  if (!gains.empty()) expected.gain = median_of(std::move(gains));
  // A search has found most of its gain when a part of its trials is made.
  constexpr double part = 1.0 / 3;
  if (!paces.empty()) {
    expected.pace = std::chrono::duration<double>(part * median_of(std::move(paces)));
  }
  return expected;
}

}  // namespace tune::detail
