// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <fmt/format.h>
#include <memory>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/tunedb/commands/commands.hpp"
#include "libtune/tunedb/output.hpp"
#include "libtune/tunedb/report/report_data.hpp"
#include "libtune/tunedb/report/report_page.hpp"
#include "libtune/tunedb/report/report_source.hpp"

namespace tune::cli {
namespace {

struct report_options {
  std::string file;
  report_choice choice{};
  std::string function{};
  bool force = false;
  bool follow = false;
};

/// Detaches from the parent program, its terminal and its priority.
void leave_parent() {
  if (const ::pid_t child = ::fork(); child != 0) ::_exit(child > 0 ? done : failed);
  ::setsid();
  constexpr int lowest = 19;
  ::setpriority(PRIO_PROCESS, 0, lowest);
}

/// Reads lines of standard input, names of functions, and adds them to the given ones.
/// @returns false at the end of standard input
bool read_functions(std::string& half_a_line, std::vector<std::string>& functions,
                    std::chrono::milliseconds wait) {
  const auto end = std::chrono::steady_clock::now() + wait;
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    ::pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    if (left.count() <= 0 || ::poll(&input, 1, static_cast<int>(left.count())) == 0) return true;
    std::array<char, 4096> part{};
    const ssize_t count = ::read(STDIN_FILENO, part.data(), part.size());
    if (count < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (count <= 0) return false;
    half_a_line.append(part.data(), static_cast<std::size_t>(count));
    for (std::size_t at = 0; (at = half_a_line.find('\n')) != std::string::npos;) {
      functions.push_back(half_a_line.substr(0, at));
      half_a_line.erase(0, at + 1);
    }
  }
}

/// Writes the page after each change of the databases, until the end of standard input, and then
/// once more. Reading keeps others from committing, so it takes a small part of the time only.
void follow(report_choice choice, const std::string& target) {
  constexpr std::chrono::milliseconds shortest_pause{3000};
  constexpr int pauses = 20;  // the multiple of a report's time between two reports
  std::string half_a_line;
  std::chrono::milliseconds pause{500};
  std::string written;
  std::unique_ptr<report_source> source;
  for (bool goes_on = true; goes_on;) {
    const std::size_t known = choice.functions.size();
    goes_on = read_functions(half_a_line, choice.functions, pause);
    pause = shortest_pause;
    if (choice.functions.empty()) continue;
    if (!source || choice.functions.size() != known) {
      source = std::make_unique<report_source>(choice);
      written.clear();
    }
    const auto begin = std::chrono::steady_clock::now();
    try {
      const auto now = source->now();
      if (now->stamp != written) write_file(target, report_page(now->text));
      written = now->stamp;
    } catch (const database_error& busy) {
      if (!goes_on) throw;
    }
    pause = std::max(pause, std::chrono::duration_cast<std::chrono::milliseconds>(
                                pauses * (std::chrono::steady_clock::now() - begin)));
  }
}

void run(const invocation& shared, report_options options) {
  if (options.follow) leave_parent();
  report_choice& choice = options.choice;
  if (!options.function.empty()) choice.functions = {options.function};
  if (choice.databases.empty() || !shared.database.empty()) {
    choice.databases.insert(choice.databases.begin(), shared.database_path());
  }
  if (!shared.json || options.follow) require_report_page();
  std::string target;
  for (const std::string& database : choice.databases) {
    target = export_target(options.file, database, false, options.force);
  }
  if (options.follow) return follow(choice, target);
  write_file_by(target, [&](const detail::text_sink& put) {
    if (shared.json) {
      write_report_data(choice, put);
      put("\n");
    } else {
      write_report_page(put, [&] { write_report_data(choice, put); });
    }
  });
}

}  // namespace

void add_report(CLI::App& program, invocation& shared) {
  const auto options = std::make_shared<report_options>();
  CLI::App* command = program.add_subcommand(
      "report",
      "Writes one page of HTML that needs no network: the course of every search, its "
      "configurations, the effects of its parameters, where its time went, what failed and why, "
      "and devices and versions beside each other. With --json the data alone. An earlier report "
      "is replaced");
  command->add_option("FILE", options->file, "The page; - is standard output")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("DATABASE", options->choice.databases,
                   "Databases to show together, which are only read; without any, the one of --db")
      ->type_name("");
  command
      ->add_option("--function", options->function, "Only this function: a name, or NAME__VERSION")
      ->type_name("NAME");
  command->add_flag("--force", options->force, "Also over a file that is no report or export");
  command->add_flag(
      "--follow", options->follow,
      "For programs (LIBTUNE_REPORT): goes on in a process of its own, which reads names "
      "of functions from standard input, a line each, and writes the page about "
      "them every few seconds until that ends, and once more then");
  command->callback([&shared, options] { run(shared, *options); });
}

}  // namespace tune::cli
