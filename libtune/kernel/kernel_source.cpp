// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/kernel_source.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string>
#include <vector>

#include "libtune/base/error.hpp"

#include "complex_magnitude.kernel.hpp"
#include "transpose_tile.kernel.hpp"
#include "work_group_rank.kernel.hpp"
#include "work_group_reduce.kernel.hpp"
#include "work_group_scan.kernel.hpp"
#include "work_group_select.kernel.hpp"

namespace tune {
namespace {

constexpr std::string_view rank_name = "libtune/work_group_rank.kernel";
constexpr std::string_view scan_name = "libtune/work_group_scan.kernel";
constexpr std::string_view reduce_name = "libtune/work_group_reduce.kernel";
constexpr std::array<library_kernel, 6> library{{
    {"libtune/complex_magnitude.kernel", embedded::complex_magnitude_kernel},
    {"libtune/transpose_tile.kernel", embedded::transpose_tile_kernel},
    {rank_name, embedded::work_group_rank_kernel, {reduce_name}},
    {reduce_name, embedded::work_group_reduce_kernel},
    {scan_name, embedded::work_group_scan_kernel, {reduce_name}},
    {"libtune/work_group_select.kernel",
     embedded::work_group_select_kernel,
     {rank_name, scan_name}},
}};

constexpr std::string_view blanks = " \t";

std::string_view without_blanks(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  return text;
}

bool skip(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  text = without_blanks(text);
  return true;
}

/// The name of the library text that a line includes, and the rest of the line; the name is empty
/// if the line includes none.
struct include_line {
  std::string_view name;
  std::string_view rest;
};

include_line parse(std::string_view line) {
  std::string_view rest = without_blanks(line);
  if (!skip(rest, "#") || !skip(rest, "include") || !rest.starts_with("\"libtune/")) return {};
  rest.remove_prefix(1);
  const std::size_t end = rest.find('"');
  if (end == std::string_view::npos) return {};
  return {rest.substr(0, end), rest.substr(end + 1)};
}

const library_kernel& find(std::string_view name, const std::string& source_name,
                           std::size_t line) {
  const auto found = std::ranges::find(library, name, &library_kernel::name);
  if (found != library.end()) return *found;
  std::string known;
  for (const library_kernel& kernel : library) {
    known += (known.empty() ? "" : ", ") + std::string(kernel.name);
  }
  throw build_error(fmt::format("{}:{} includes \"{}\", which libtune does not have; it has {}",
                                source_name, line, name, known),
                    {});
}

void add_file(resolved_source& resolved, const library_kernel& kernel) {
  for (const std::string_view name : kernel.needs) {
    const auto needed = std::ranges::find(library, name, &library_kernel::name);
    if (needed != library.end()) add_file(resolved, *needed);
  }
  const auto own = resolved.files.begin();
  if (std::ranges::find(own + 1, resolved.files.end(), kernel.name, &kernel_source::name) ==
      resolved.files.end()) {
    resolved.files.push_back({std::string(kernel.name), std::string(kernel.text)});
  }
}

/// Adds the files that the kernel includes, and returns the rest of its text, line by line.
std::string take_includes(resolved_source& resolved) {
  const kernel_source source = resolved.files.front();
  std::string own;
  std::size_t line_number = 0;
  for (std::string_view left = source.text; !left.empty();) {
    const std::string_view line = left.substr(0, left.find('\n'));
    const include_line wanted = parse(line);
    ++line_number;
    if (!wanted.name.empty()) add_file(resolved, find(wanted.name, source.name, line_number));
    own += wanted.name.empty() ? line : wanted.rest;
    left.remove_prefix(line.size());
    if (left.empty()) break;
    own += '\n';
    left.remove_prefix(1);
  }
  return own;
}

void add_headers(resolved_source& resolved, const kernel_source& source) {
  for (const kernel_header& header : source.headers) {
    const bool is_new = std::ranges::count(source.headers, header.name, &kernel_header::name) == 1;
    if (header.name.empty() || header.name.front() == '/' || !is_new ||
        ("/" + header.name + "/").find("/../") != std::string::npos) {
      throw argument_error(fmt::format(
          "'{}' has a header of the name '{}'; a name is a relative path without .. that no other "
          "of its headers has",
          source.name, header.name));
    }
    resolved.files.push_back({header.name, header.text});
  }
}

void append(resolved_source& resolved, std::size_t file, std::string_view text) {
  resolved.text += line_directive(1, resolved.files[file].name);
  const auto lines = std::ranges::count(resolved.text, '\n');
  resolved.runs.push_back({static_cast<std::size_t>(lines) + 1, file});
  resolved.text += text;
}

}  // namespace

std::span<const library_kernel> kernel_library() noexcept { return library; }

std::string line_directive(std::size_t line, std::string_view file_name) {
  std::string text = "#line " + std::to_string(line) + " \"";
  for (const char c : file_name.empty() ? "<string>" : file_name) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + "\"\n";
}

resolved_source include_kernel_library(const kernel_source& source) {
  resolved_source resolved;
  resolved.files.push_back({source.name.empty() ? "<string>" : source.name, source.text});
  const std::string own = take_includes(resolved);
  for (std::size_t file = 1; file < resolved.files.size(); ++file) {
    append(resolved, file, resolved.files[file].text);
  }
  append(resolved, 0, own);
  add_headers(resolved, source);
  return resolved;
}

}  // namespace tune
