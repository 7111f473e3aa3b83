// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "libtune/base/environment.hpp"
#include "libtune/cli/commands.hpp"
#include "libtune/cli/output.hpp"
#include "libtune/store/database_reader.hpp"

namespace tune::cli {
namespace {

void run(const invocation& shared) {
  const std::string path = shared.database_path();
  if (!shared.json) {
    fmt::print("{}\n", path);
    return;
  }
  const char* named_by = "default";
  if (read_environment("LIBTUNE_DB")) named_by = "LIBTUNE_DB";
  if (!shared.database.empty()) named_by = "--db";
  print_json(
      {{"path", path}, {"named_by", named_by}, {"has_tables", database_reader(path).has_tables()}});
}

}  // namespace

void add_path(CLI::App& program, invocation& shared) {
  CLI::App* command = program.add_subcommand("path", "Which file is the database, here and now");
  command->callback([&shared] { run(shared); });
}

}  // namespace tune::cli
