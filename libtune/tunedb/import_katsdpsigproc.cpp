// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <chrono>
#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <memory>

#include "libtune/exchange/katsdpsigproc.hpp"
#include "libtune/store/maintenance/database_reader.hpp"
#include "libtune/store/maintenance/merge.hpp"
#include "libtune/tunedb/commands.hpp"
#include "libtune/tunedb/output.hpp"
#include "libtune/tunedb/reports.hpp"
#include "libtune/tunedb/selection.hpp"

namespace tune::cli {
namespace {

struct katsdpsigproc_arguments {
  std::string file;
  std::vector<std::string> names;
  std::vector<std::string> types;
};

katsdpsigproc_options options_for(const std::string& database,
                                  const katsdpsigproc_arguments& given) {
  katsdpsigproc_options options;
  for (const std::string& text : given.names) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) throw usage_error("'" + text + "' is no TABLE=FUNCTION");
    options.names[text.substr(0, equals)] = text.substr(equals + 1);
  }
  for (const function_summary& summary : database_reader(database).functions()) {
    options.known.push_back(summary.function);
  }
  options.types = parse_types(given.types);
  options.date = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  return options;
}

json to_json(const taken_table& table) {
  return {{"table", table.table}, {"function", table.function}, {"version", table.version},
          {"rows", table.rows},   {"taken", table.taken},       {"left", table.left}};
}

void print_text(const std::vector<taken_table>& tables) {
  for (const taken_table& table : tables) {
    fmt::print("{}: {} of {} rows taken", table.table, table.taken, table.rows);
    if (!table.function.empty()) fmt::print(", as {} version {}", table.function, table.version);
    fmt::print("\n");
    for (const std::string& reason : table.left) fmt::print("  left: {}\n", reason);
  }
}

exit_code run(const invocation& shared, const katsdpsigproc_arguments& given) {
  const std::string path = shared.database_path();
  const katsdpsigproc_content taken = read_katsdpsigproc(given.file, options_for(path, given));
  const merge_report report = merge_content(path, taken.content);
  bool complete = report.reasons.empty();
  json tables = json::array();
  for (const taken_table& table : taken.tables) {
    complete = complete && table.left.empty();
    tables.push_back(to_json(table));
  }
  if (shared.json) {
    json document{{"tables", std::move(tables)}};
    document.update(cli::to_json(report));
    print_json(document);
  } else {
    print_text(taken.tables);
    print_report(report, false);
  }
  return complete ? done : part_left;
}

}  // namespace

void add_import_katsdpsigproc(CLI::App& program, invocation& shared) {
  const auto options = std::make_shared<katsdpsigproc_arguments>();
  CLI::App* command = program.add_subcommand(
      "import-katsdpsigproc",
      "Takes the results of a katsdpsigproc tuning.db, which is only read, and says of every table "
      "what was taken and what not. Types are those of the functions that the database knows "
      "already, else as the values show them");
  command->add_option("FILE", options->file, "katsdpsigproc's tuning.db")->required();
  command
      ->add_option("--name", options->names,
                   "What a table's function is called here, as TABLE=FUNCTION without versions")
      ->type_name("TABLE=FUNCTION")
      ->allow_extra_args(false);
  command
      ->add_option("--type", options->types,
                   "The type of a field of functions that the database does not know, such as "
                   "rows=int64, or label=string? if it may be empty")
      ->type_name("FIELD=TYPE")
      ->allow_extra_args(false);
  command->callback([&shared, options] { shared.result = run(shared, *options); });
}

}  // namespace tune::cli
