// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tunedb/output.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <memory>
#include <span>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "libtune/base/error.hpp"
#include "libtune/base/terminal_text.hpp"
#include "libtune/console/result_text.hpp"
#include "libtune/extra/ranged/portfolio_core.hpp"
#include "libtune/store/database/database_file.hpp"
#include "libtune/store/files/file_system.hpp"
#include "libtune/tune/goal.hpp"

namespace tune::cli {
namespace {

std::string device_text(const json& device) {
  return fmt::format("{} ({}, {})", device["name"].get_ref<const std::string&>(),
                     device["platform"].get_ref<const std::string&>(),
                     device["version"].get_ref<const std::string&>());
}

/// The value in the form of to_string().
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

std::string portfolio_text(const json& values) {
  const json& item = values[detail::portfolio_column];
  if (!item.is_string()) return object_text(values);
  const auto line =
      detail::describe_portfolio({{detail::portfolio_column, item.get<std::string>()}});
  return line ? *line : object_text(values);
}

std::string cell_text(const std::string& member, const json& item) {
  if (item.is_null()) return {};
  if (member == "device" || member == "result_of") return device_text(item);
  if (member == "devices") return devices_text(item);
  if (item.is_object() && item.contains(detail::portfolio_column)) return portfolio_text(item);
  if (item.is_object()) return object_text(item);
  if (item.is_array()) return std::to_string(item.size());
  if (item.is_boolean()) return item.get<bool>() ? "yes" : "no";
  return member.ends_with("_ns") ? time_text(item.get<double>()) : plain_text(item);
}

// A parsed document takes about ten times as much memory.
constexpr std::size_t largest_file = std::size_t{1} << 29;

constexpr const char* own_output = "/proc/self/fd/1";

bool is_same_file(const std::string& path, const struct stat& other) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && status.st_dev == other.st_dev &&
         status.st_ino == other.st_ino;
}

/// True if a file begins like an export, or is empty.
bool is_export(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string begin(256, '\0');
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  begin.resize(static_cast<std::size_t>(file.gcount()));
  if (begin.empty()) return !file.bad() && file.eof();
  if (begin.starts_with("// libtune winners")) return true;
  // Documents may be written on many lines, or on one.
  std::erase_if(begin, [](char c) { return c == ' ' || c == '\n'; });
  return begin.find(R"("format":"libtune)") != std::string::npos ||
         begin.find(R"("libtune":{)") != std::string::npos;
}

void check_file(const std::string& path, bool is_backup, bool force) {
  std::error_code ignored;
  if (force || (!is_backup && is_export(path))) return;
  if (is_backup && std::filesystem::file_size(path, ignored) == 0) return;
  throw error(fmt::format("'{}' is there already, and {}; name another file, or say --force", path,
                          is_backup ? "would be lost" : "is no export of libtune"));
}

}  // namespace

void put_text(std::FILE* to, const std::string& text) {
  fmt::print(to, "{}", detail::terminal_text(text));
}

namespace {

constexpr std::size_t widest = 200;  // a longer cell does not widen the whole column

void widen(std::vector<std::size_t>& widths, const std::vector<std::string>& line) {
  widths.resize(std::max(widths.size(), line.size()));
  for (std::size_t i = 0; i < line.size(); ++i) {
    widths[i] = std::max(widths[i], std::min(line[i].size(), widest));
  }
}

void print_line(const std::vector<std::string>& line, const std::vector<std::size_t>& widths) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i) {
    text += i + 1 < line.size() ? fmt::format("{:<{}}  ", line[i], widths[i]) : line[i];
  }
  print("{}\n", text);
}

std::vector<std::string> headings_of(std::span<const table_column> columns) {
  std::vector<std::string> headings;
  for (const table_column& column : columns) headings.emplace_back(column.heading);
  return headings;
}

std::vector<std::string> cells_of(const json& row, std::span<const table_column> columns) {
  std::vector<std::string> cells;
  for (const table_column& column : columns) {
    const std::string cell = detail::terminal_text(
        column.text != nullptr ? column.text(row) : cell_text(column.member, row[column.member]),
        detail::text_shape::cell);
    cells.push_back(cell.empty() ? "-" : cell);
  }
  return cells;
}

}  // namespace

void print_table(const std::vector<std::vector<std::string>>& lines) {
  std::vector<std::size_t> widths;
  for (const auto& line : lines) widen(widths, line);
  for (const auto& line : lines) print_line(line, widths);
}

void print_json(const json& document) { print("{}\n", detail::json_text(document, 2)); }

detail::json_stream printed_json() {
  return {[](std::string_view part) { print("{}", part); }, 2, detail::json_text};
}

void print_rows(bool as_json, const json& document, const json& rows,
                std::initializer_list<table_column> columns) {
  if (as_json) return print_json(document);
  const std::span<const table_column> all(columns.begin(), columns.size());
  std::vector<std::vector<std::string>> lines;
  if (all.front().heading != nullptr) lines.push_back(headings_of(all));
  for (const json& row : rows) lines.push_back(cells_of(row, all));
  print_table(lines);
}

row_printer::row_printer(bool as_json, const json& document, const char* member,
                         std::initializer_list<table_column> columns)
    : columns_(columns) {
  if (as_json) {
    document_ = printed_json();
    document_->begin_object();
    document_->add_members(document);
    document_->begin_array(member);
  } else {
    lines_.push_back(headings_of(columns_));
  }
}

void row_printer::add(const json& row) {
  if (document_) return document_->add(row);
  lines_.push_back(cells_of(row, columns_));
  constexpr std::size_t first_rows = 1000;
  if (!widths_.empty() || lines_.size() > first_rows) print_lines();
}

void row_printer::print_lines() {
  if (widths_.empty()) {
    for (const auto& line : lines_) widen(widths_, line);
  }
  for (const auto& line : lines_) print_line(line, widths_);
  lines_.clear();
}

void row_printer::end() {
  if (!document_) return print_lines();
  document_->end();
  document_->end();
  print("\n");
}

std::string to_text(const device_identity& device) {
  return fmt::format("{} ({}, {})", device.name, device.platform, device.driver_version);
}

std::string time_text(const std::optional<double>& ns) {
  return ns ? format_run_time(run_time(*ns)) : "-";
}

std::string fields_text(const std::vector<named_value>& values) {
  if (auto line = detail::describe_portfolio(values)) return *std::move(line);
  return values.empty() ? "-" : to_string(values);
}

std::string function_text(const json& row) {
  return row["function"].get<std::string>() + "__" + row["version"].dump();
}

std::string goal_text(const function_identity& function) {
  return to_string(detail::split_name(function.name).second);
}

std::string outcome_text(const json& row) {
  const auto reason = row[row.contains("reason") ? "reason" : "message"].get<std::string>();
  const std::string first = reason.substr(0, reason.find('\n'));
  return row["outcome"].get<std::string>() + (first.empty() ? "" : ": " + first);
}

std::string read_file(const std::string& path) {
  const bool standard = path == "-";
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> opened(
      standard ? nullptr : std::fopen(path.c_str(), "rb"), std::fclose);
  std::FILE* file = standard ? stdin : opened.get();
  std::string content;
  char part[65536];
  while (file != nullptr) {
    const std::size_t count = std::fread(part, 1, sizeof part, file);
    if (count == 0) break;
    content.append(part, count);
    if (content.size() > largest_file) {
      throw error(fmt::format(
          "'{}' has more than {} MiB, too much for a document; tunedb merge takes databases of any "
          "size",
          path, largest_file >> 20));
    }
  }
  if (file == nullptr || std::ferror(file) != 0) {
    throw error(
        fmt::format("'{}' could not be read: {}", path, std::generic_category().message(errno)));
  }
  return content;
}

std::string export_target(const std::string& path, const std::string& database, bool is_backup,
                          bool force) {
  struct stat output {};
  const bool is_output =
      path == "-" || (::fstat(STDOUT_FILENO, &output) == 0 && is_same_file(path, output));
  if (detail::belongs_to_database(is_output ? own_output : path, database)) {
    throw error(fmt::format(
        "'{}' is the database '{}' or belongs to it, and would be destroyed; name another file",
        path, database));
  }
  if (is_output && !is_backup) return "-";
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return path;
  if (S_ISLNK(status.st_mode) && ::stat(path.c_str(), &status) != 0) {
    throw error(fmt::format("'{}' is a symbolic link to nothing; name a file", path));
  }
  if (S_ISREG(status.st_mode)) {
    std::string target = std::filesystem::canonical(path).string();
    check_file(target, is_backup, force);
    return target;
  }
  if (is_backup || S_ISDIR(status.st_mode) || S_ISBLK(status.st_mode)) {
    throw error(fmt::format("'{}' is no file that could be written; name another", path));
  }
  return path;
}

void write_file_by(const std::string& path,
                   const std::function<void(const detail::text_sink&)>& write) {
  if (path == "-") {
    write([](std::string_view part) {
      if (std::fwrite(part.data(), 1, part.size(), stdout) == part.size()) return;
      throw error("standard output could not be written");
    });
    return;
  }
  const auto write_to = [&](const std::string& name) {
    std::ofstream stream(name, std::ios::binary);
    write([&](std::string_view part) {
      if (!(stream << part)) throw error("'" + path + "' could not be written");
    });
    if (!(stream << std::flush)) throw error("'" + path + "' could not be written");
  };
  struct stat status {};
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    write_to(path);
  } else {
    replace_file_by(path, write_to);
  }
}

void write_file(const std::string& path, std::string_view content) {
  write_file_by(path, [&](const auto& put) { put(content); });
}

}  // namespace tune::cli
