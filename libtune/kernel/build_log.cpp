// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/build_log.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "libtune/base/plain_text.hpp"

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

// Excludes a file whose longer name ends in the same way.
bool is_within_name(std::string_view log, std::size_t at) {
  if (at == 0) return false;
  const char before = log[at - 1];
  return detail::is_word(before) ||
         std::string_view("-./\\").find(before) != std::string_view::npos;
}

/// A file of a source, and a line of it.
using place = std::pair<std::size_t, std::size_t>;

/// Returns the origin of the nth line of a source's text.
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

constexpr std::size_t longest_error = 300;

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r:";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

/// A line of a log that reports an error: its place, if one precedes it, and its text.
struct told_error {
  std::string_view where;
  std::string_view what;
};

/// Parses "k:1:2: error: what", "k(1): error #20: what", "error: k:1:2: what", "ptxas fatal   :
/// what"; empty for other lines, such as "1 error generated."
std::optional<told_error> parse_error(std::string_view line) {
  for (const std::string_view word : {"error", "fatal"}) {
    for (std::size_t at = line.find(word); at != std::string_view::npos;
         at = line.find(word, at + 1)) {
      const std::string_view rest = line.substr(at + word.size());
      const std::size_t colon = rest.find_first_not_of(" #-0123456789D");
      if (colon == std::string_view::npos || rest[colon] != ':') continue;
      std::string_view where = trimmed(line.substr(0, at));
      for (const std::string_view kind : {"fatal", "catastrophic"}) {
        if (where.ends_with(kind)) where = trimmed(where.substr(0, where.size() - kind.size()));
      }
      return told_error{where, trimmed(rest.substr(colon + 1))};
    }
  }
  return std::nullopt;
}

/// Returns "k:1:2" of "k:1:2: what", which PoCL writes after the word; empty if there is no place.
std::string_view place_before(std::string_view what) {
  const std::size_t end = what.find(": ");
  if (end == std::string_view::npos) return {};
  const std::string_view place = what.substr(0, end);
  const std::size_t last = place.find_last_not_of("0123456789");
  const bool is_place = last != std::string_view::npos && last + 1 < place.size() &&
                        place[last] == ':' && place.find(' ') == std::string_view::npos;
  return is_place ? place : std::string_view();
}

/// Returns a place in clang's form, with the file of its origin.
std::string plain_place(const resolved_source& source, std::string_view where,
                        std::size_t lines_before) {
  if (const std::size_t bracket = where.rfind('('); where.ends_with(')') && bracket > 0) {
    return fmt::format("{}:{}", where.substr(0, bracket),
                       where.substr(bracket + 1, where.size() - bracket - 2));
  }
  constexpr std::string_view unnamed = "<kernel>:";
  if (!where.starts_with(unnamed)) return std::string(where);
  std::size_t line = 0;
  const char* const end = where.data() + where.size();
  const auto [after, failure] = std::from_chars(where.data() + unnamed.size(), end, line);
  if (failure != std::errc{} || line <= lines_before) return std::string(where);
  const auto found = origin(source, line - lines_before);
  if (!found) return std::string(where);
  return fmt::format("{}:{}{}", source.files[found->first].name, found->second,
                     std::string_view(after, static_cast<std::size_t>(end - after)));
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

std::string first_error(const resolved_source& source, std::string_view log,
                        std::size_t lines_before) {
  std::string_view first;
  while (!log.empty()) {
    const std::string_view line = log.substr(0, log.find('\n'));
    log.remove_prefix(std::min(line.size() + 1, log.size()));
    if (first.empty()) first = trimmed(line);
    auto told = parse_error(line);
    if (!told) continue;
    if (told->where.empty()) {
      told->where = place_before(told->what);
      told->what = trimmed(told->what.substr(told->where.size()));
    }
    const std::string where = plain_place(source, told->where, lines_before);
    return fmt::format("{}{}error: {}", where, where.empty() ? "" : ": ",
                       told->what.substr(0, longest_error));
  }
  return std::string(first.substr(0, longest_error));
}

}  // namespace tune
