// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/prune.hpp"

#include <CLI/CLI.hpp>
#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <memory>

#include "libtune/cli/commands.hpp"
#include "libtune/cli/output.hpp"
#include "libtune/cli/selection.hpp"

namespace tune::cli {
namespace {

struct options {
  std::string function;
  std::string device;
  std::string before;
  unsigned days = 0;
  bool orphans = false;
  bool dry_run = false;
};

std::string date_before(unsigned days) {
  constexpr std::time_t seconds_per_day = 86400;
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::time(nullptr) - seconds_per_day * std::time_t{days}));
}

prune_options to_prune(const options& given) {
  prune_options which{.orphans = given.orphans, .dry_run = given.dry_run};
  if (!given.function.empty()) {
    const auto [name, version] = split_function(given.function);
    which.function = name;
    which.version = version;
  }
  if (!given.device.empty()) which.device = given.device;
  if (!given.before.empty()) which.before = given.before;
  if (given.days > 0) which.before = date_before(given.days);
  if (!which.function && !which.device && !which.before && !which.orphans) {
    throw usage_error(
        "say what to remove: --function, --device, --older-than, --before, --orphans");
  }
  return which;
}

void run(const invocation& shared, const options& given) {
  const prune_report report = prune_database(shared.database_path(), to_prune(given));
  if (shared.json) {
    print_json({{"results", report.results},
                {"searches", report.searches},
                {"functions", report.functions},
                {"dry_run", given.dry_run}});
    return;
  }
  fmt::print("{} {} results, {} searches with their trials, {} functions\n",
             given.dry_run ? "would remove" : "removed", report.results, report.searches,
             report.functions);
}

}  // namespace

void add_prune(CLI::App& program, invocation& shared) {
  const auto given = std::make_shared<options>();
  CLI::App* command = program.add_subcommand(
      "prune", "Removes the results and searches that fit everything that is given");
  command
      ->add_option("--function", given->function,
                   "Of this function; it is forgotten if nothing is left of it")
      ->type_name("NAME");
  command->add_option("--device", given->device, "Of a device of this name")->type_name("NAME");
  auto* days = command->add_option("--older-than", given->days, "From more than so many days ago");
  days->type_name("DAYS");
  command->add_option("--before", given->before, "From before this date (UTC)")
      ->type_name("YYYY-MM-DD")
      ->excludes(days);
  command->add_flag("--orphans", given->orphans,
                    "No results; only searches for whose key there is no result");
  command->add_flag("--dry-run", given->dry_run, "Only count, and change nothing");
  command->callback([&shared, given] { run(shared, *given); });
}

}  // namespace tune::cli
