// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tunedb/output.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fmt/format.h>

#include "libtune/exchange/duration.hpp"
#include "libtune/store/database/plain_json.hpp"

namespace tune::cli {

void print_table(const std::vector<std::vector<std::string>>& lines) {
  std::vector<std::size_t> widths;
  for (const auto& line : lines) {
    widths.resize(std::max(widths.size(), line.size()));
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  for (const auto& line : lines) {
    std::string text;
    for (std::size_t i = 0; i < line.size(); ++i) {
      text += i + 1 < line.size() ? fmt::format("{:<{}}  ", line[i], widths[i]) : line[i];
    }
    fmt::print("{}\n", text);
  }
}

void print_json(const json& document) {
  fmt::print("{}\n", document.dump(2, ' ', false, json::error_handler_t::replace));
}

json to_json(const value& v) { return detail::plain_json(v); }

json to_json(const std::vector<named_value>& values) { return detail::plain_json(values); }

json to_json(const device_identity& device) {
  return {{"name", device.name}, {"platform", device.platform}, {"version", device.driver_version}};
}

json to_json(const std::optional<double>& number) {
  return number && std::isfinite(*number) ? json(*number) : json(nullptr);
}

std::string to_text(const device_identity& device) {
  return fmt::format("{} ({}, {})", device.name, device.platform, device.driver_version);
}

std::string time_text(const std::optional<double>& ns) {
  return ns ? format_run_time(run_time(*ns)) : "-";
}

std::string fields_text(const std::vector<named_value>& values) {
  return values.empty() ? "-" : to_string(values);
}

}  // namespace tune::cli
