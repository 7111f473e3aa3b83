// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/console/result_text.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>

namespace tune {

std::string format_run_time(run_time time) {
  double value = time.count();
  if (!std::isfinite(value)) return fmt::format("{}", value);
  const char* unit = "ns";
  for (const char* larger : {"us", "ms", "s"}) {
    if (std::abs(value) < 999.5) break;
    value /= 1000;
    unit = larger;
  }
  const int decimals = std::abs(value) < 9.995 ? 2 : std::abs(value) < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}", value, decimals, unit);
}

std::string format_clock(std::chrono::nanoseconds time) {
  const auto total =
      std::max(std::chrono::duration_cast<std::chrono::seconds>(time).count(), std::int64_t{0});
  const auto seconds = total % 60;
  const auto minutes = total / 60 % 60;
  if (total < 3600) return fmt::format("{}:{:02}", minutes, seconds);
  return fmt::format("{}:{:02}:{:02}", total / 3600, minutes, seconds);
}

varying_fields::varying_fields(std::span<const trial> trials) {
  for (const trial& item : trials) add(item.configuration);
}

void varying_fields::add(const std::vector<named_value>& configuration) {
  if (added_++ == 0) {
    first_ = configuration;
    varies_.assign(first_.size(), false);
    return;
  }
  const std::size_t fields = std::min(first_.size(), configuration.size());
  for (std::size_t i = 0; i < fields; ++i) {
    if (configuration[i] != first_[i]) varies_[i] = true;
  }
}

std::vector<named_value> varying_fields::varying(
    const std::vector<named_value>& configuration) const {
  if (added_ < 2) return configuration;
  std::vector<named_value> fields;
  for (std::size_t i = 0; i < configuration.size(); ++i) {
    if (i >= varies_.size() || varies_[i]) fields.push_back(configuration[i]);
  }
  return fields;
}

std::vector<named_value> varying_fields::common() const {
  std::vector<named_value> fields;
  if (added_ < 2) return fields;
  for (std::size_t i = 0; i < first_.size(); ++i) {
    if (!varies_[i]) fields.push_back(first_[i]);
  }
  return fields;
}

std::string format_metric(const metric& item) {
  if (std::isnan(item.value)) return "-";
  // Counts are written in full: four digits would make 65536 of them 6.554e+04.
  const bool is_count = item.value == std::round(item.value) && std::abs(item.value) < 1e9;
  const std::string number =
      is_count ? fmt::format("{:.0f}", item.value) : fmt::format("{:.4g}", item.value);
  return item.unit.empty() ? number : number + " " + item.unit;
}

std::string format_metrics(const std::vector<metric>& metrics) {
  std::string text;
  for (const metric& item : metrics) {
    text += (text.empty() ? "" : ", ") + item.name + "=" + format_metric(item);
  }
  return text;
}

std::vector<std::string> metric_names(std::span<const trial> trials) {
  std::vector<std::string> names;
  for (const trial& item : trials) {
    for (const metric& each : item.metrics) {
      if (std::ranges::find(names, each.name) == names.end()) names.push_back(each.name);
    }
  }
  return names;
}

std::string format_result(run_time time, const std::vector<named_value>& fields) {
  if (fields.empty()) return format_run_time(time);
  return format_run_time(time) + " (" + to_string(fields) + ")";
}

}  // namespace tune
