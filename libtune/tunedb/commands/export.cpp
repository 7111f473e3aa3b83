// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <vector>

#include "libtune/extra/formats/t4.hpp"
#include "libtune/extra/formats/winners.hpp"
#include "libtune/extra/maintenance/database_reader.hpp"
#include "libtune/extra/maintenance/json_document.hpp"
#include "libtune/store/database/record.hpp"
#include "libtune/tunedb/commands/commands.hpp"
#include "libtune/tunedb/output.hpp"
#include "libtune/tunedb/selection.hpp"

namespace tune::cli {
namespace {

struct export_options {
  std::string file = "-";
  std::string format = "json";
  std::string function;
  search_choice search;
  bool force = false;
};

void write_json(database_reader& database, const export_options& options,
                const detail::text_sink& put) {
  const std::vector<function_identity> functions =
      options.function.empty() ? database.identities()
                               : std::vector{find_function(database, options.function)};
  write_json_document(database, functions, put);
}

std::string t4_text(database_reader& database, const export_options& options) {
  if (options.function.empty()) throw usage_error("T4 holds one search: name its --function");
  const function_identity function = find_function(database, options.function);
  const search_content search = options.search.latest(database, function);
  const auto is_of_the_key = [&](const char* column, const column_values& key) {
    return text_of(key, column) == text_of(search.columns, column);
  };
  const row_choice device{.device_name = text_of(search.columns, "device_name"),
                          .device_platform = text_of(search.columns, "device_platform"),
                          .driver_version = text_of(search.columns, "device_version")};
  function_content content{.function = function, .results = {}, .searches = {search}};
  database.for_each_result(function, device, [&](const result_content& result) {
    const column_values key = search_columns(result.arguments, result.device());
    if (!is_of_the_key("arguments_canonical", key)) return;
    if (is_of_the_key("device_canonical", key)) content.results.push_back(result);
  });
  return to_t4_text(content);
}

/// The winners of one function, or of all functions with winners.
std::vector<winner_table> winner_tables(database_reader& database, const export_options& options) {
  std::vector<winner_table> tables;
  for (const function_identity& each : database.identities()) {
    const function_identity function =
        options.function.empty() ? each : find_function(database, options.function);
    function_content content = database.read(function);
    std::erase_if(content.results, [&](const result_content& result) {
      return !options.search.device.fits(result.device()) ||
             (options.function.empty() && is_prior(result.device()));
    });
    if (!content.results.empty() || !options.function.empty()) {
      tables.push_back(winners_of(content));
    }
    if (!options.function.empty()) break;
  }
  if (tables.empty()) throw nothing_found("the database has no such results");
  return tables;
}

void write(database_reader& database, const export_options& options, const detail::text_sink& put) {
  if (options.format == "t4") return put(t4_text(database, options));
  if (options.format == "header") return put(to_header(winner_tables(database, options)));
  if (options.format == "winners") return put(to_winners_json(winner_tables(database, options)));
  write_json(database, options, put);
}

void run(const invocation& shared, const export_options& options) {
  const std::string path = shared.database_path();
  database_reader database(path);
  if (!database.has_tables()) throw nothing_found("there is no database '" + path + "'");
  const bool is_backup = options.format == "sqlite";
  if (is_backup && options.file == "-") throw usage_error("name the file of the backup");
  const std::string target = export_target(options.file, path, is_backup, options.force);
  if (is_backup) return back_up_database(path, target);
  write_file_by(target, [&](const detail::text_sink& put) { write(database, options, put); });
  if (database.damaged() > 0) {
    print(stderr, "tunedb: {} damaged rows were left out; see tunedb check\n", database.damaged());
  }
}

}  // namespace

void add_export(CLI::App& program, invocation& shared) {
  const auto options = std::make_shared<export_options>();
  CLI::App* command = program.add_subcommand(
      "export",
      "Writes results and trials to a file, or the winners for programs without a database. An "
      "earlier export is replaced; nothing is ever written "
      "over the database");
  command->add_option("FILE", options->file,
                      "The file; without one, or for -, it is standard output");
  command
      ->add_option(
          "--format", options->format,
          "json, the default: everything, or one function. t4: one search, as Kernel "
          "Tuner writes it. header: the winners as a C++20 header that compiles alone, with "
          "a lookup by device and key while compiling. winners: the same as JSON. "
          "sqlite: a backup of the whole database")
      ->check(CLI::IsMember({"json", "t4", "header", "winners", "sqlite"}));
  command->add_option("--function", options->function, "A name, or NAME__VERSION")
      ->type_name("NAME");
  options->search.add_to(*command);
  command->add_flag("--force", options->force,
                    "Also over a file that is no export of libtune, or a backup over any file");
  command->callback([&shared, options] { run(shared, *options); });
}

}  // namespace tune::cli
