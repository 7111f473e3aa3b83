// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <memory>

#include "libtune/store/maintenance/database_reader.hpp"
#include "libtune/tunedb/commands.hpp"
#include "libtune/tunedb/output.hpp"
#include "libtune/tunedb/searches.hpp"
#include "libtune/tunedb/selection.hpp"

namespace tune::cli {
namespace {

struct trials_options {
  std::string function;
  search_choice search;
  bool all = false;
};

json to_json(const trial_content& trial) {
  return {{"configuration", cli::to_json(trial.configuration)},
          {"outcome", text_of(trial.columns, "outcome")},
          {"message", text_of(trial.columns, "message")},
          {"score_ns", cli::to_json(trial.score_ns())},
          {"score_lower_ns", cli::to_json(trial.score_lower_ns())},
          {"score_upper_ns", cli::to_json(trial.score_upper_ns())},
          {"samples_ns", trial.samples_ns()}};
}

json to_json(const search_content& search) {
  json trials = json::array();
  for (const trial_content& trial : search.trials) trials.push_back(to_json(trial));
  return {{"search", search.id},
          {"arguments", text_of(search.columns, "arguments")},
          {"device", cli::to_json(search.device())},
          {"started_at", text_of(search.columns, "started_at")},
          {"finished_at", text_of(search.columns, "finished_at")},
          {"result", text_of(search.columns, "result")},
          {"trials", std::move(trials)}};
}

void print_text(search_content search) {
  fmt::print("search {}: {} on {}, started {}, {}\n", search.id,
             text_of(search.columns, "arguments"), to_text(search.device()),
             text_of(search.columns, "started_at"),
             text_of(search.columns, "finished_at").empty() ? "not finished"
                                                            : text_of(search.columns, "result"));
  std::ranges::stable_sort(search.trials, {}, [](const trial_content& trial) {
    return trial.score_ns().value_or(std::numeric_limits<double>::infinity());
  });
  std::vector<std::vector<std::string>> lines{
      {"TIME", "FROM", "TO", "SAMPLES", "CONFIGURATION", "OUTCOME"}};
  for (const trial_content& trial : search.trials) {
    const std::string message = text_of(trial.columns, "message");
    lines.push_back({time_text(trial.score_ns()), time_text(trial.score_lower_ns()),
                     time_text(trial.score_upper_ns()), std::to_string(trial.samples_ns().size()),
                     fields_text(trial.configuration),
                     text_of(trial.columns, "outcome") +
                         (message.empty() ? "" : ": " + message.substr(0, message.find('\n')))});
  }
  print_table(lines);
}

void run(const invocation& shared, const trials_options& options) {
  database_reader database(shared.database_path());
  const function_identity function = find_function(database, options.function);
  std::vector<search_content> searches = options.search.choose(database.read(function));
  if (!options.all) searches.erase(searches.begin(), searches.end() - 1);
  if (!shared.json) {
    for (const search_content& search : searches) print_text(search);
    return;
  }
  json list = json::array();
  for (const search_content& search : searches) list.push_back(to_json(search));
  print_json(
      {{"function", function.name}, {"version", function.version}, {"searches", std::move(list)}});
}

}  // namespace

void add_trials(CLI::App& program, invocation& shared) {
  const auto options = std::make_shared<trials_options>();
  CLI::App* command = program.add_subcommand(
      "trials", "Every trial of the latest search of a function, the fastest first");
  command->add_option("FUNCTION", options->function, "A name, or NAME__VERSION")->required();
  options->search.add_to(*command);
  command->add_flag("--all", options->all, "All the searches that fit, the latest last");
  command->callback([&shared, options] { run(shared, *options); });
}

}  // namespace tune::cli
