// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>

#include "libtune/store/maintenance/database_reader.hpp"
#include "libtune/tunedb/commands.hpp"
#include "libtune/tunedb/output.hpp"
#include "libtune/tunedb/selection.hpp"

namespace tune::cli {
namespace {

struct show_options {
  std::string function;
  device_choice device;
};

json to_json(const result_content& result) {
  return {{"arguments", cli::to_json(result.arguments)},
          {"device", cli::to_json(result.device())},
          {"values", cli::to_json(result.values)},
          {"score_ns", cli::to_json(result.score_ns())},
          {"tuned_at", text_of(result.columns, "tuned_at")}};
}

void print_text(const std::vector<result_content>& results) {
  std::vector<std::vector<std::string>> lines{{"KEY", "VALUES", "TIME", "TUNED AT", "DEVICE"}};
  for (const result_content& result : results) {
    lines.push_back({fields_text(result.arguments), fields_text(result.values),
                     time_text(result.score_ns()), text_of(result.columns, "tuned_at"),
                     to_text(result.device())});
  }
  print_table(lines);
}

void run(const invocation& shared, const show_options& options) {
  database_reader database(shared.database_path());
  const function_identity function = find_function(database, options.function);
  std::vector<result_content> results = database.read(function, false).results;
  std::erase_if(
      results, [&](const result_content& result) { return !options.device.fits(result.device()); });
  if (!shared.json) {
    print_text(results);
    return;
  }
  json list = json::array();
  for (const result_content& result : results) list.push_back(to_json(result));
  print_json(
      {{"function", function.name}, {"version", function.version}, {"results", std::move(list)}});
}

}  // namespace

void add_show(CLI::App& program, invocation& shared) {
  const auto options = std::make_shared<show_options>();
  CLI::App* command = program.add_subcommand("show", "The results of a function, a line for each");
  command->add_option("FUNCTION", options->function, "A name, or NAME__VERSION")->required();
  options->device.add_to(*command);
  command->callback([&shared, options] { run(shared, *options); });
}

}  // namespace tune::cli
