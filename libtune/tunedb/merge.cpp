// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/maintenance/merge.hpp"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>

#include "libtune/store/maintenance/database_reader.hpp"
#include "libtune/tunedb/commands.hpp"
#include "libtune/tunedb/reports.hpp"
#include "libtune/tunedb/selection.hpp"

namespace tune::cli {
namespace {

exit_code run(const invocation& shared, const std::vector<std::string>& files) {
  // All are read before anything is written, so that a bad one changes nothing.
  std::vector<database_content> contents;
  merge_report sum;
  for (const std::string& file : files) {
    database_reader database(file, database_access::read_only);
    if (!database.has_tables()) throw nothing_found("there is no database '" + file + "'");
    contents.push_back(database.read_all());
    if (database.damaged() == 0) continue;
    sum.left += database.damaged();
    sum.reasons.push_back(fmt::format("{} rows of '{}' are damaged; see tunedb --db {} check",
                                      database.damaged(), file, file));
  }
  for (const database_content& content : contents) {
    add_up(sum, merge_content(shared.database_path(), content));
  }
  return print_report(sum, shared.json);
}

}  // namespace

void add_merge(CLI::App& program, invocation& shared) {
  const auto files = std::make_shared<std::vector<std::string>>();
  CLI::App* command = program.add_subcommand(
      "merge",
      "Brings other databases into this one. Of two results for one key the measured one stays, "
      "then the faster; neither the order nor a repetition matters");
  command->add_option("FILE", *files, "Other databases, which are only read")->required();
  command->callback([&shared, files] { shared.result = run(shared, *files); });
}

}  // namespace tune::cli
