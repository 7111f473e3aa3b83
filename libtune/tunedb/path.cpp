// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// The commands that show the present settings: path and env.
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>

#include "libtune/base/environment.hpp"
#include "libtune/tunedb/commands.hpp"
#include "libtune/tunedb/layers.hpp"
#include "libtune/tunedb/output.hpp"

namespace tune::cli {
namespace {

void show_path(const invocation& shared, bool all) {
  const std::string path = shared.database_path();
  if (!shared.json && !all) {
    fmt::print("{}\n", path);
    return;
  }
  const std::vector<layer> layers = find_layers(path, shared.settings().system_databases);
  const char* named_by = "default";
  if (read_environment("LIBTUNE_DB")) named_by = "LIBTUNE_DB";
  if (!shared.database.empty()) named_by = "--db";
  const json listed = to_json(layers);
  print_rows(shared.json,
             {{"path", path},
              {"named_by", named_by},
              {"has_tables", layers.front().has_tables},
              {"layers", listed}},
             listed, {{"LAYER", "role"}, {"FILE", "path"}, {"STATE", "state"}});
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

void add_path(CLI::App& program, invocation& shared) {
  const auto all = std::make_shared<bool>(false);
  CLI::App* command = program.add_subcommand("path", "Which file is the database, here and now");
  command->add_flag("--all", *all,
                    "Also the system's databases, and which of all are used, from the top");
  command->callback([&shared, all] { show_path(shared, *all); });
}

void add_env(CLI::App& program, invocation& shared) {
  CLI::App* command = program.add_subcommand(
      "env", "Every environment variable that libtune reads, with its present value");
  command->callback([&shared] {
    const json variables = variables_json();
    print_rows(shared.json, variables, variables,
               {{"VARIABLE", "name"},
                {"VALUE NOW", "value"},
                {"MAY HOLD", "form"},
                {"DEFAULT", "default"},
                {"MEANING", "meaning"}});
  });
}

}  // namespace tune::cli
