// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>

#include "libtune/base/environment.hpp"
#include "libtune/tunedb/commands.hpp"
#include "libtune/tunedb/layers.hpp"
#include "libtune/tunedb/output.hpp"

namespace tune::cli {
namespace {

void print_text(const std::vector<layer>& layers) {
  std::vector<std::vector<std::string>> lines{{"LAYER", "FILE", "STATE"}};
  for (const layer& one : layers) lines.push_back({one.role, one.path, one.state()});
  print_table(lines);
}

void run(const invocation& shared, bool all) {
  const std::string path = shared.database_path();
  if (!shared.json && !all) {
    fmt::print("{}\n", path);
    return;
  }
  const std::vector<layer> layers = find_layers(path, shared.settings().system_databases);
  if (!shared.json) {
    print_text(layers);
    return;
  }
  const char* named_by = "default";
  if (read_environment("LIBTUNE_DB")) named_by = "LIBTUNE_DB";
  if (!shared.database.empty()) named_by = "--db";
  print_json({{"path", path},
              {"named_by", named_by},
              {"has_tables", layers.front().has_tables},
              {"layers", to_json(layers)}});
}

}  // namespace

void add_path(CLI::App& program, invocation& shared) {
  const auto all = std::make_shared<bool>(false);
  CLI::App* command = program.add_subcommand("path", "Which file is the database, here and now");
  command->add_flag("--all", *all,
                    "Also the system's databases, and which of all are used, from the top");
  command->callback([&shared, all] { run(shared, *all); });
}

}  // namespace tune::cli
