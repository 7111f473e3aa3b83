// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tunedb/output.hpp"

#include <algorithm>
#include <cstdio>
#include <fmt/format.h>

#include "libtune/exchange/duration.hpp"

namespace tune::cli {
namespace {

std::string device_text(const json& device) {
  return fmt::format("{} ({}, {})", device["name"].get_ref<const std::string&>(),
                     device["platform"].get_ref<const std::string&>(),
                     device["version"].get_ref<const std::string&>());
}

/// As to_string() writes the value.
std::string plain_text(const json& item) {
  if (item.is_null()) return "none";
  if (item.is_string()) return item.get<std::string>();
  return item.is_number_float() ? fmt::format("{}", item.get<double>()) : item.dump();
}

std::string devices_text(const json& devices) {
  std::string text;
  for (const json& device : devices) text += (text.empty() ? "" : "; ") + device_text(device);
  return text;
}

std::string object_text(const json& object) {
  std::string text;
  for (const auto& [name, item] : object.items()) {
    text += (text.empty() ? "" : ", ") + name + "=" + plain_text(item);
  }
  return text;
}

std::string cell_text(const std::string& member, const json& item) {
  if (item.is_null()) return {};
  if (member == "device" || member == "result_of") return device_text(item);
  if (member == "devices") return devices_text(item);
  if (item.is_object()) return object_text(item);
  if (item.is_array()) return std::to_string(item.size());
  if (item.is_boolean()) return item.get<bool>() ? "yes" : "no";
  return member.ends_with("_ns") ? time_text(item.get<double>()) : plain_text(item);
}

}  // namespace

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

void print_json(const json& document) { fmt::print("{}\n", detail::json_text(document, 2)); }

void print_rows(bool as_json, const json& document, const json& rows,
                std::initializer_list<table_column> columns) {
  if (as_json) return print_json(document);
  std::vector<std::vector<std::string>> lines;
  if (columns.begin()->heading != nullptr) {
    auto& headings = lines.emplace_back();
    for (const table_column& column : columns) headings.emplace_back(column.heading);
  }
  for (const json& row : rows) {
    auto& cells = lines.emplace_back();
    for (const table_column& column : columns) {
      const std::string cell =
          column.text != nullptr ? column.text(row) : cell_text(column.member, row[column.member]);
      cells.push_back(cell.empty() ? "-" : cell);
    }
  }
  print_table(lines);
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

std::string function_text(const json& row) {
  return row["function"].get<std::string>() + "__" + row["version"].dump();
}

std::string outcome_text(const json& row) {
  const auto reason = row[row.contains("reason") ? "reason" : "message"].get<std::string>();
  const std::string first = reason.substr(0, reason.find('\n'));
  return row["outcome"].get<std::string>() + (first.empty() ? "" : ": " + first);
}

}  // namespace tune::cli
