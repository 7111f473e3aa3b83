// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdio>
#include <fmt/format.h>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libtune/extra/maintenance/database_content.hpp"
#include "libtune/extra/maintenance/json_stream.hpp"
#include "libtune/store/database/identity_column.hpp"

namespace tune::cli {

using detail::json;
using detail::number_or_null;
using detail::plain_json;

/// Writes a text through terminal_text, because names of databases and files must not control the
/// terminal.
void put_text(std::FILE* to, const std::string& text);

/// Writes a formatted text in the same way, instead of fmt::print.
template <class... Parts>
void print(std::FILE* to, fmt::format_string<Parts...> format, Parts&&... parts) {
  put_text(to, fmt::format(format, std::forward<Parts>(parts)...));
}
template <class... Parts>
void print(fmt::format_string<Parts...> format, Parts&&... parts) {
  put_text(stdout, fmt::format(format, std::forward<Parts>(parts)...));
}

/// A column of a table of JSON objects: the text of a member, or of several.
struct table_column {
  const char* heading = nullptr;  ///< null in all columns of a table without headings
  const char* member = nullptr;
  std::string (*text)(const json& row) = nullptr;  ///< replaces the member
};

/// Writes lines of cells to standard output, the cells of a column under each other.
void print_table(const std::vector<std::vector<std::string>>& lines);

/// Writes a document to standard output; replaces bytes that are not UTF-8.
void print_json(const json& document);

/// A document that is written to standard output in the same form, part by part.
detail::json_stream printed_json();

/// Writes a document as JSON, or its rows as a table: devices by name, platform and version, times
/// (members that end in _ns) with a unit, lists by their length, a dash for empty values.
void print_rows(bool as_json, const json& document, const json& rows,
                std::initializer_list<table_column> columns);

/// Prints a document like print_rows, row by row: memory for all of them is not needed. The first
/// rows set the widths of the columns.
class row_printer {
 public:
  /// @param document  the members before the rows, for JSON
  /// @param member    the member with the rows
  row_printer(bool as_json, const json& document, const char* member,
              std::initializer_list<table_column> columns);
  void add(const json& row);
  void end();

 private:
  void print_lines();

  std::vector<table_column> columns_;
  std::vector<std::vector<std::string>> lines_;
  std::vector<std::size_t> widths_;
  std::optional<detail::json_stream> document_;  // for JSON
};

/// A device as text: "GPU One (Some Platform, 535.104)".
std::string to_text(const device_identity& device);
/// A time as text: "1.50 us", or a dash without one.
std::string time_text(const std::optional<double>& ns);
/// The fields as "a=1, b=2", or a dash without fields.
std::string fields_text(const std::vector<named_value>& values);
/// The function of a row as NAME__VERSION.
std::string function_text(const json& row);
/// The goal of a function's results, from the name under which they are stored: "min energy".
std::string goal_text(const function_identity& function);
/// A row's outcome, and the first line of its reason.
std::string outcome_text(const json& row);

/// The bytes of a file, or of standard input for "-".
/// @throws error that names the file, also for more than 512 MiB
std::string read_file(const std::string& path);

/// The target of an export: the file at the end of all links, or "-" for standard output under any
/// name. A backup needs a file.
/// @param force  allows to overwrite a file that is not an export of libtune
/// @throws error if the file is the database, belongs to it, or would be lost
std::string export_target(const std::string& path, const std::string& database, bool is_backup,
                          bool force);

/// Writes to standard output for "-", directly to a pipe or terminal, and else replaces a file as a
/// whole. @throws error
void write_file(const std::string& path, std::string_view content);

/// Writes parts in the same way, of which the file may have too many for the memory.
/// @param write  passes each part to its argument
void write_file_by(const std::string& path,
                   const std::function<void(const detail::text_sink&)>& write);

}  // namespace tune::cli
