// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "libtune/store/maintenance/database_reader.hpp"
#include "libtune/tunedb/commands.hpp"
#include "libtune/tunedb/output.hpp"

namespace tune::cli {
namespace {

json to_json(const function_summary& summary) {
  json devices = json::array();
  for (const device_identity& device : summary.devices) devices.push_back(cli::to_json(device));
  return {{"function", summary.function.name}, {"version", summary.function.version},
          {"results", summary.results},        {"searches", summary.searches},
          {"trials", summary.trials},          {"devices", std::move(devices)}};
}

void print_text(const std::vector<function_summary>& functions) {
  std::vector<std::vector<std::string>> lines{
      {"FUNCTION", "VERSION", "RESULTS", "SEARCHES", "TRIALS", "DEVICES"}};
  for (const function_summary& summary : functions) {
    std::string devices;
    for (const device_identity& device : summary.devices) {
      devices += (devices.empty() ? "" : "; ") + to_text(device);
    }
    lines.push_back({summary.function.name, std::to_string(summary.function.version),
                     std::to_string(summary.results), std::to_string(summary.searches),
                     std::to_string(summary.trials), devices.empty() ? "-" : devices});
  }
  print_table(lines);
}

void run_list(const invocation& shared) {
  const auto functions = database_reader(shared.database_path()).functions();
  if (!shared.json) {
    print_text(functions);
    return;
  }
  json list = json::array();
  for (const function_summary& summary : functions) list.push_back(to_json(summary));
  print_json(list);
}

}  // namespace

void add_list(CLI::App& program, invocation& shared) {
  CLI::App* command = program.add_subcommand(
      "list", "The functions of the database: versions, numbers of results and trials, devices");
  command->callback([&shared] { run_list(shared); });
}

}  // namespace tune::cli
