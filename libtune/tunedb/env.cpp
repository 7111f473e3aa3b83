// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>

#include "libtune/base/environment.hpp"
#include "libtune/tunedb/commands.hpp"
#include "libtune/tunedb/output.hpp"

namespace tune::cli {
namespace {

void print_text() {
  std::vector<std::vector<std::string>> lines{
      {"VARIABLE", "VALUE NOW", "MAY HOLD", "DEFAULT", "MEANING"}};
  for (const environment_variable& variable : environment_variables()) {
    lines.push_back({variable.name, read_environment(variable.name).value_or("-"), variable.form,
                     variable.default_text, variable.meaning});
  }
  print_table(lines);
}

json variables_json() {
  json list = json::array();
  for (const environment_variable& variable : environment_variables()) {
    const auto now = read_environment(variable.name);
    list.push_back({{"name", variable.name},
                    {"value", now ? json(*now) : json(nullptr)},
                    {"form", variable.form},
                    {"default", variable.default_text},
                    {"meaning", variable.meaning}});
  }
  return list;
}

}  // namespace

void add_env(CLI::App& program, invocation& shared) {
  CLI::App* command = program.add_subcommand(
      "env", "Every environment variable that libtune reads, with its present value");
  command->callback([&shared] {
    if (shared.json) {
      print_json(variables_json());
    } else {
      print_text();
    }
  });
}

}  // namespace tune::cli
