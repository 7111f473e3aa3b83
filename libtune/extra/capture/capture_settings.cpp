// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/capture/capture_settings.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>

#include "libtune/base/environment.hpp"
#include "libtune/base/error.hpp"

namespace tune::detail {
namespace {

constexpr const char* variable = "LIBTUNE_CAPTURE";

struct named_factor {
  std::string_view name;
  double factor;
};
constexpr std::array times{named_factor{"ns", 1}, named_factor{"us", 1e3}, named_factor{"ms", 1e6},
                           named_factor{"s", 1e9}};
constexpr std::array sizes{named_factor{"", 1},
                           named_factor{"KB", 1e3},
                           named_factor{"MB", 1e6},
                           named_factor{"GB", 1e9},
                           named_factor{"KiB", 1024.0},
                           named_factor{"MiB", 1024.0 * 1024},
                           named_factor{"GiB", 1024.0 * 1024 * 1024}};
constexpr std::array counts{named_factor{"", 1}};

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// Reads a positive number with a unit.
template <std::size_t Count>
std::optional<double> quantity(std::string_view text,
                               const std::array<named_factor, Count>& units) {
  double number = 0;
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc{} || !(number > 0) || !(number < 1e15)) return std::nullopt;
  const std::string_view unit = trim(text.substr(static_cast<std::size_t>(stop - text.data())));
  for (const named_factor& each : units) {
    if (each.name == unit) return number * each.factor;
  }
  return std::nullopt;
}

/// Reads one policy or limit. Returns false for any other text.
bool read_part(capture_options& read, std::string_view part) {
  if (part == "on request") return read.on_request = true;
  const auto begins = [&](std::string_view word) {
    if (!part.starts_with(word)) return false;
    part = trim(part.substr(word.size()));
    return true;
  };
  std::optional<double> number;
  if (begins("each ") && (number = quantity(part, counts))) {
    read.each_nth = static_cast<std::uint64_t>(*number);
  } else if (begins("over ") && (number = quantity(part, times))) {
    read.deadline = std::chrono::nanoseconds(static_cast<std::int64_t>(*number));
  } else if (begins("frames ") && (number = quantity(part, counts))) {
    read.most_frames = static_cast<std::size_t>(*number);
  } else if (begins("bytes ") && (number = quantity(part, sizes))) {
    read.most_file_bytes = static_cast<std::uint64_t>(*number);
  } else if (begins("memory ") && (number = quantity(part, sizes))) {
    read.memory_bytes = static_cast<std::size_t>(*number);
  } else {
    return false;
  }
  return *number >= 1;
}

constexpr const char* form =
    "a folder, then with commas between them: each N, over 5 ms, frames N, bytes 2 GiB, memory 4 "
    "GiB, on request";

/// Returns nothing for a text in another form.
std::optional<capture_options> read_options(std::string_view text, const capture_options& initial) {
  constexpr std::uint64_t usual_nth = 100;
  constexpr std::size_t usual_frames = 4;
  const std::size_t comma = text.find(',');
  const std::string_view folder = trim(text.substr(0, comma));
  if (folder.empty()) return std::nullopt;
  capture_options read = initial;
  read.folder = std::filesystem::path(folder);
  read.each_nth = 0;
  read.deadline = {};
  std::string_view rest = comma == std::string_view::npos ? "" : text.substr(comma + 1);
  const bool is_alone = trim(rest).empty();
  while (!trim(rest).empty()) {
    const std::size_t end = rest.find(',');
    if (!read_part(read, trim(rest.substr(0, end)))) return std::nullopt;
    rest = end == std::string_view::npos ? "" : rest.substr(end + 1);
  }
  if (is_alone) read.most_frames = usual_frames;
  const bool has_policy = read.each_nth > 0 || read.deadline.count() > 0 || read.on_request;
  if (!has_policy) read.each_nth = usual_nth;
  return read;
}

}  // namespace

capture_options complete_by(capture_options options, std::string_view text) {
  auto read = read_options(text, options);
  if (!read) throw environment_error(variable, std::string(text), form);
  if (options.each_nth > 0 || options.deadline.count() > 0) {
    read->each_nth = options.each_nth;
    read->deadline = options.deadline;
  }
  if (!options.folder.empty()) read->folder = options.folder;
  return *std::move(read);
}

capture_options complete_by_environment(capture_options options) {
  const bool has_policy = options.each_nth > 0 || options.deadline.count() > 0;
  if (options.folder.empty() || !has_policy) {
    if (const auto text = read_environment(variable)) {
      options = complete_by(std::move(options), *text);
    }
  }
  if (options.deadline.count() < 0 || options.compression < 0 || options.compression > 9 ||
      options.most_frames == 0 || options.write_time.count() <= 0 ||
      !(options.bytes_per_second >= 0)) {
    throw argument_error(
        "a capture needs a deadline and a rate that are not negative, a compression from 0 to 9, a "
        "time to write and at least one frame; correct its capture_options");
  }
  if (options.frames_held == 0) options.frames_held = options.deadline.count() > 0 ? 4 : 1;
  return options;
}

}  // namespace tune::detail

namespace tune {

capture_options capture_options_from_text(std::string_view text, capture_options initial) {
  auto read = detail::read_options(text, initial);
  if (read) return *std::move(read);
  throw argument_error("'" + std::string(text) + "' does not set a capture: it has to be " +
                       detail::form);
}

}  // namespace tune
