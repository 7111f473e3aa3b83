// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>

#include "libtune/tunedb/commands.hpp"
#include "libtune/tunedb/output.hpp"
#include "libtune/tunedb/report_data.hpp"
#include "libtune/tunedb/report_page.hpp"

namespace tune::cli {
namespace {

struct report_options {
  std::string file;
  report_choice choice{};
  bool force = false;
};

void run(const invocation& shared, report_options options) {
  report_choice& choice = options.choice;
  if (choice.databases.empty() || !shared.database.empty()) {
    choice.databases.insert(choice.databases.begin(), shared.database_path());
  }
  require_report_page();
  std::string target;
  for (const std::string& database : choice.databases) {
    target = export_target(options.file, database, false, options.force);
  }
  const report_json data = report_data(choice);
  const std::string text = report_text(data);
  write_file(target, shared.json ? text + "\n" : report_page(text, page_kind::file));
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
      ->add_option("--function", options->choice.function,
                   "Only this function: a name, or NAME__VERSION")
      ->type_name("NAME");
  command->add_flag("--force", options->force, "Also over a file that is no report or export");
  command->callback([&shared, options] { run(shared, *options); });
}

}  // namespace tune::cli
