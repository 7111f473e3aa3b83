// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <sys/ioctl.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "libtune/store/files/file_system.hpp"
#include "libtune/tunedb/commands/commands.hpp"
#include "libtune/tunedb/output.hpp"
#include "libtune/tunedb/report/report_data.hpp"
#include "libtune/tunedb/report/running_searches.hpp"
#include "libtune/tunedb/report/stored_numbers.hpp"

namespace tune::cli {
namespace {

constexpr std::chrono::seconds pause{1};

std::vector<running_search> look(const std::string& path) {
  database_reader database(path, database_access::read_only);
  return database.has_tables() ? find_running(database, path) : std::vector<running_search>();
}

std::size_t terminal_width() {
  struct winsize size {};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/// The first `width` characters of a line of UTF-8.
std::string cut(const std::string& line, std::size_t width) {
  std::size_t characters = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool begins = (static_cast<unsigned char>(line[i]) & 0xc0U) != 0x80U;
    if (begins && characters++ == width) return line.substr(0, i);
  }
  return line;
}

std::vector<std::string> lines_of(const std::vector<running_search>& searches) {
  const double now = seconds_of(utc_now()).value_or(0);
  std::vector<std::string> lines;
  for (const running_search& search : searches) {
    const std::string text = describe(search, now, true);
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    lines.push_back(text.substr(end + 1));
  }
  if (lines.empty()) lines.emplace_back("no search runs on this machine");
  return lines;
}

/// Overwrites the previously written lines.
void redraw(const std::vector<std::string>& lines, std::size_t& written) {
  const std::size_t width = terminal_width();
  std::string text;
  if (written > 0) text = fmt::format("\033[{}F", written);
  for (const std::string& line : lines) text += cut(line, width) + "\033[K\n";
  text += "\033[J";
  fmt::print("{}", text);  // moves the cursor; the lines themselves are plain
  std::fflush(stdout);
  written = lines.size();
}

void print_lines(const std::vector<running_search>& searches) {
  const double now = seconds_of(utc_now()).value_or(0);
  for (const running_search& search : searches) print("{}\n", describe(search, now, false));
  std::fflush(stdout);
}

void print_once(const invocation& shared, const std::vector<running_search>& searches) {
  if (!shared.json) return print_lines(searches);
  json list = json::array();
  for (const running_search& search : searches) list.push_back(to_json(search));
  print_json(list);
}

void run(const invocation& shared, bool once) {
  const std::string path = detail::absolute_path(shared.database_path());
  if (once || shared.json) return print_once(shared, look(path));
  const bool on_terminal = ::isatty(STDOUT_FILENO) == 1;
  std::size_t written = 0;
  // Until a signal, or the end of the output's reader.
  while (std::ferror(stdout) == 0) {
    const auto searches = look(path);
    if (on_terminal) {
      redraw(lines_of(searches), written);
    } else {
      print_lines(searches);
    }
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace

void add_watch(CLI::App& program, invocation& shared) {
  const auto once = std::make_shared<bool>(false);
  CLI::App* command = program.add_subcommand(
      "watch",
      "The searches that run on this machine now: their time, process, trials and best result. "
      "Updated each second until a signal ends the command, in place on a terminal and otherwise "
      "as a line for each search");
  command->add_flag("--once", *once, "Prints the present state and ends; --json implies it");
  command->callback([&shared, once] { run(shared, *once); });
}

}  // namespace tune::cli
