// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/maintenance/prune.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/tunedb/commands/commands.hpp"
#include "libtune/tunedb/output.hpp"
#include "libtune/tunedb/selection.hpp"

namespace tune::cli {
namespace {

struct prune_arguments {
  std::string function;
  std::string device;
  std::string before;
  std::string age;
  bool orphans = false;
  bool dry_run = false;
  bool yes = false;
};

/// The date this long ago: "30" or "30d" for days, "12h" for hours.
std::string date_before(const std::string& age) {
  using std::chrono::sys_seconds;
  std::uint32_t number = 0;
  const char* const end = age.data() + age.size();
  const auto [rest, failure] = std::from_chars(age.data(), end, number);
  const std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  if (failure != std::errc{} || (!unit.empty() && unit != "d" && unit != "h")) {
    throw usage_error("'" + age + "' is no age: give days or hours, such as 30, 30d or 12h");
  }
  const std::chrono::seconds long_ago =
      std::chrono::hours(std::int64_t{number} * (unit == "h" ? 1 : 24));
  const sys_seconds now =
      std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  const sys_seconds then = std::max(now - long_ago, sys_seconds{});
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(then)));
}

prune_options to_prune(const prune_arguments& given) {
  prune_options which{.orphans = given.orphans, .dry_run = given.dry_run};
  if (!given.function.empty()) {
    const auto [name, version] = split_function(given.function);
    which.function = name;
    which.version = version;
  }
  if (!given.device.empty()) which.device = given.device;
  if (!given.age.empty()) which.before = date_before(given.age);
  try {
    if (!given.before.empty()) which.before = utc_date(given.before);
  } catch (const argument_error& mistake) {
    throw usage_error(mistake.what());
  }
  if (!which.function && !which.device && !which.before && !which.orphans) {
    throw usage_error(
        "say what to remove: --function, --device, --older-than, --before, --orphans");
  }
  return which;
}

json to_json(const prune_report& report, bool dry_run) {
  json of = json::array();
  for (const pruned_function& each : report.of) {
    of.push_back({{"function", each.name},
                  {"version", each.version},
                  {"results", each.results},
                  {"searches", each.searches},
                  {"results_kept", each.results_kept},
                  {"searches_kept", each.searches_kept},
                  {"forgotten", each.forgotten}});
  }
  return {{"results", report.results},
          {"searches", report.searches},
          {"functions", report.functions},
          {"results_kept", report.results_kept},
          {"searches_kept", report.searches_kept},
          {"dry_run", dry_run},
          {"of", std::move(of)}};
}

std::string part_of(const json& row, const std::string& list) {
  const auto gone = row[list].get<std::size_t>();
  return fmt::format("{} of {}", gone, gone + row[list + "_kept"].get<std::size_t>());
}

void print_functions(const prune_report& report) {
  if (report.of.empty()) return;
  print_rows(false, {}, to_json(report, false)["of"],
             {{"FUNCTION", "function"},
              {"VERSION", "version"},
              {"RESULTS", nullptr, [](const json& row) { return part_of(row, "results"); }},
              {"SEARCHES", nullptr, [](const json& row) {
                 return part_of(row, "searches") +
                        (row["forgotten"].get<bool>() ? ", and it is forgotten" : "");
               }}});
}

void print_counts(const char* verb, const prune_report& report) {
  print("{} {} results, {} searches with their trials, {} functions\n", verb, report.results,
        report.searches, report.functions);
}

bool is_confirmed() {
  if (::isatty(STDIN_FILENO) != 1 || ::isatty(STDOUT_FILENO) != 1) return false;
  print("Remove them? [y/N] ");
  std::fflush(stdout);
  const int answer = std::getchar();
  return answer == 'y' || answer == 'Y';
}

/// Shows the rows to be removed, or the rows to be kept if they are fewer, and asks for
/// confirmation.
/// @throws error unless the answer is yes
void confirm(const std::string& path, prune_options which, bool as_json) {
  which.dry_run = true;
  const prune_report ahead = prune_database(path, which);
  if (!ahead.removes_most()) return;
  if (!as_json) {
    print_functions(ahead);
    print_counts("would remove", ahead);
  }
  if (!as_json && is_confirmed()) return;
  throw error(fmt::format(
      "nothing was removed: this would remove {} of {} results and {} of {} searches, more than "
      "it keeps; say --yes if that is meant",
      ahead.results, ahead.results + ahead.results_kept, ahead.searches,
      ahead.searches + ahead.searches_kept));
}

void run(const invocation& shared, const prune_arguments& given) {
  const std::string path = shared.database_path();
  const prune_options which = to_prune(given);
  if (!given.dry_run && !given.yes) confirm(path, which, shared.json);
  const prune_report report = prune_database(path, which);
  if (shared.json) return print_json(to_json(report, given.dry_run));
  print_functions(report);
  print_counts(given.dry_run ? "would remove" : "removed", report);
}

}  // namespace

void add_prune(CLI::App& program, invocation& shared) {
  const auto given = std::make_shared<prune_arguments>();
  CLI::App* command = program.add_subcommand(
      "prune", "Removes the results and searches that fit everything that is given");
  command
      ->add_option("--function", given->function,
                   "Of this function; it is forgotten if nothing is left of it")
      ->type_name("NAME");
  command->add_option("--device", given->device, "Of a device of this name")->type_name("NAME");
  auto* age = command->add_option("--older-than", given->age,
                                  "From longer ago: days, as 30 or 30d, or hours, as 12h");
  age->type_name("AGE");
  command
      ->add_option("--before", given->before,
                   "From before this date in UTC, as 2024-01-31 or 2024-01-31T12:00:00Z")
      ->type_name("DATE")
      ->excludes(age);
  command->add_flag("--orphans", given->orphans,
                    "No results; only searches for whose key there is no result");
  command->add_flag("--dry-run", given->dry_run, "Only count, and change nothing");
  command->add_flag("--yes", given->yes,
                    "Also if more goes than stays; else that is shown, and asked on a terminal");
  command->callback([&shared, given] { run(shared, *given); });
}

}  // namespace tune::cli
