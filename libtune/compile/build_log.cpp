// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/compile/build_log.hpp"

#include <charconv>
#include <fmt/format.h>
#include <set>

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

}  // namespace

std::vector<std::size_t> lines_in_log(std::string_view source_name, std::string_view log) {
  std::set<std::size_t> lines;
  std::size_t at = log.find(source_name);
  while (!source_name.empty() && at != std::string_view::npos) {
    at += source_name.size();
    if (at < log.size() && (log[at] == ':' || log[at] == '(')) {
      std::size_t line = 0;
      const auto [end, failure] =
          std::from_chars(log.data() + at + 1, log.data() + log.size(), line);
      if (failure == std::errc{} && line > 0) lines.insert(line);
    }
    at = log.find(source_name, at);
  }
  return {lines.begin(), lines.end()};
}

std::string quote_source_lines(const kernel_source& source, std::string_view log,
                               std::size_t lines_before) {
  std::vector<std::size_t> lines = lines_in_log(source.name, log);
  for (const std::size_t line : lines_in_log("<kernel>", log)) {
    if (line > lines_before) lines.push_back(line - lines_before);
  }
  std::string text;
  std::size_t quoted = 0;
  for (const std::size_t line : lines) {
    if (quoted++ == max_quoted_lines) return text + "\n  ...";
    text += fmt::format("\n  {}:{}: {}", source.name, line, nth_line(source.text, line));
  }
  return text;
}

}  // namespace tune
