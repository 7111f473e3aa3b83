// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/compile/build_log.hpp"

#include <cctype>
#include <charconv>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <utility>

namespace tune {
namespace {

constexpr std::size_t max_quoted_lines = 10;

std::string_view nth_line(std::string_view text, std::size_t line) {
  for (std::size_t i = 1; i < line; ++i) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return text.substr(0, text.find('\n'));
}

// A file of a longer name that ends in the same way is another one.
bool is_within_name(std::string_view log, std::size_t at) {
  if (at == 0) return false;
  const char before = log[at - 1];
  return std::isalnum(static_cast<unsigned char>(before)) != 0 ||
         std::string_view("_-./\\").find(before) != std::string_view::npos;
}

/// A file of a source and a line of it.
using place = std::pair<std::size_t, std::size_t>;

/// Where the nth line of a source's text comes from.
std::optional<place> origin(const resolved_source& source, std::size_t line) {
  std::optional<place> found;
  for (const resolved_source::run& run : source.runs) {
    if (run.first_line <= line) found = place{run.file, line - run.first_line + 1};
  }
  return found;
}

std::set<place> places_in_log(const resolved_source& source, std::string_view log,
                              std::size_t lines_before) {
  std::set<place> places;
  for (std::size_t file = 0; file < source.files.size(); ++file) {
    for (const std::size_t line : lines_in_log(source.files[file].name, log)) {
      places.emplace(file, line);
    }
  }
  for (const std::size_t line : lines_in_log("<kernel>", log)) {
    if (line <= lines_before) continue;
    if (const auto found = origin(source, line - lines_before)) places.insert(*found);
  }
  return places;
}

}  // namespace

std::vector<std::size_t> lines_in_log(std::string_view source_name, std::string_view log) {
  std::set<std::size_t> lines;
  std::size_t at = log.find(source_name);
  while (!source_name.empty() && at != std::string_view::npos) {
    const bool is_another = is_within_name(log, at);
    at += source_name.size();
    if (!is_another && at < log.size() && (log[at] == ':' || log[at] == '(')) {
      std::size_t line = 0;
      const auto [end, failure] =
          std::from_chars(log.data() + at + 1, log.data() + log.size(), line);
      if (failure == std::errc{} && line > 0) lines.insert(line);
    }
    at = log.find(source_name, at);
  }
  return {lines.begin(), lines.end()};
}

std::string quote_source_lines(const resolved_source& source, std::string_view log,
                               std::size_t lines_before) {
  std::string text;
  std::size_t quoted = 0;
  for (const auto& [file, line] : places_in_log(source, log, lines_before)) {
    if (quoted++ == max_quoted_lines) return text + "\n  ...";
    const kernel_source& from = source.files[file];
    text += fmt::format("\n  {}:{}: {}", from.name, line, nth_line(from.text, line));
  }
  return text;
}

}  // namespace tune
