// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/metrics/metrics_settings.hpp"

#include <charconv>
#include <errno.h>  // NOLINT(modernize-deprecated-headers): program_invocation_short_name
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "libtune/base/environment.hpp"
#include "libtune/base/error.hpp"

namespace tune {
namespace {

constexpr const char* variable = "LIBTUNE_METRICS_FILE";
constexpr const char* form =
    "a file whose name ends in .prom, then with commas between them: each 15 s, program NAME";
constexpr std::string_view ending = ".prom";

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// Reads a time of at least a millisecond and at most a day.
std::optional<std::chrono::milliseconds> time_of(std::string_view text) {
  constexpr double longest_ms = 86'400e3;
  double number = 0;
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc{}) return std::nullopt;
  const std::string_view unit = trim(text.substr(static_cast<std::size_t>(stop - text.data())));
  if (unit == "s")
    number *= 1e3;
  else if (unit == "min")
    number *= 60e3;
  else if (unit != "ms")
    return std::nullopt;
  if (!(number >= 1) || !(number <= longest_ms)) return std::nullopt;
  return std::chrono::milliseconds(static_cast<std::int64_t>(number));
}

/// Reads one setting. Returns false for any other text.
bool read_part(metrics_options& read, std::string_view part) {
  constexpr std::string_view each = "each ";
  constexpr std::string_view program = "program ";
  if (part.starts_with(program)) {
    read.program = trim(part.substr(program.size()));
    return !read.program.empty();
  }
  const auto time = part.starts_with(each) ? time_of(trim(part.substr(each.size()))) : std::nullopt;
  if (time) read.every = *time;
  return time.has_value();
}

/// Returns nothing for a text in another form.
std::optional<metrics_options> read_options(std::string_view text, metrics_options initial) {
  std::string_view rest = text;
  const auto next = [&] {
    const std::size_t end = rest.find(',');
    const std::string_view part = trim(rest.substr(0, end));
    rest = end == std::string_view::npos ? "" : rest.substr(end + 1);
    return part;
  };
  const std::string_view file = next();
  if (!file.ends_with(ending)) return std::nullopt;
  initial.file = file;
  while (!trim(rest).empty()) {
    if (!read_part(initial, next())) return std::nullopt;
  }
  return initial;
}

}  // namespace

metrics_options metrics_options_from_text(std::string_view text, metrics_options initial) {
  auto read = read_options(text, std::move(initial));
  if (read) return *std::move(read);
  throw argument_error(fmt::format("'{}' does not set metrics: it has to be {}", text, form));
}

metrics_options detail::complete_by_environment(metrics_options options) {
  if (options.file.empty()) {
    if (const auto text = read_environment(variable)) {
      auto read = read_options(*text, options);
      if (!read) throw environment_error(variable, *text, form);
      if (!options.program.empty()) read->program = options.program;
      options = *std::move(read);
    }
  }
  const std::string file = options.file.string();
  if (!file.empty() && !file.ends_with(ending)) {
    throw argument_error(fmt::format(
        "the file '{}' for metrics would not be read: node_exporter reads the files whose names "
        "end in .prom; rename it",
        file));
  }
  if (options.every.count() < 1 || options.window.count() < 0) {
    throw argument_error(
        "a metrics exporter needs a time between two texts of at least 1 ms, and a window that is "
        "not negative; correct its metrics_options");
  }
  if (options.program.empty()) {
    options.program =
        file.empty() ? std::string(::program_invocation_short_name) : options.file.stem().string();
  }
  return options;
}

}  // namespace tune
