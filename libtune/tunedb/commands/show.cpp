// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// The commands that show the contents of the database: list, show and trials.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "libtune/console/result_text.hpp"
#include "libtune/console/trial_json.hpp"
#include "libtune/extra/maintenance/database_reader.hpp"
#include "libtune/store/database/record.hpp"
#include "libtune/store/database/tuning_database.hpp"
#include "libtune/tune/metric_sources.hpp"
#include "libtune/tunedb/commands/commands.hpp"
#include "libtune/tunedb/output.hpp"
#include "libtune/tunedb/selection.hpp"

namespace tune::cli {
namespace {

json to_json(const function_summary& summary) {
  json devices = json::array();
  for (const device_identity& device : summary.devices) devices.push_back(plain_json(device));
  return {{"function", summary.function.name},   {"version", summary.function.version},
          {"goal", goal_text(summary.function)}, {"results", summary.results},
          {"searches", summary.searches},        {"trials", summary.trials},
          {"devices", std::move(devices)}};
}

void run_list(const invocation& shared) {
  json list = json::array();
  for (const function_summary& summary : database_reader(shared.database_path()).functions()) {
    list.push_back(to_json(summary));
  }
  print_rows(shared.json, list, list,
             {{"FUNCTION", "function"},
              {"VERSION", "version"},
              {"GOAL", "goal"},
              {"RESULTS", "results"},
              {"SEARCHES", "searches"},
              {"TRIALS", "trials"},
              {"DEVICES", "devices"}});
}

struct show_options {
  std::string function;
  std::vector<std::string> arguments;
  device_choice device;
};

/// The inputs of a result, from the search that found it: "author", or the captured frames; null
/// if the search is missing.
json inputs_of(tuning_database& database, const function_identity& function,
               const result_content& result) {
  const auto origin = database.origin(function, {result.arguments, result.device()}, result.values);
  if (!origin) return nullptr;
  return origin->search.inputs.empty() ? "author" : origin->search.inputs;
}

// Not to_json: with a json as argument, the library's own functions of that name would be
// candidates.
json row_of(const result_content& result, json inputs) {
  return {{"inputs", std::move(inputs)},
          {"arguments", plain_json(result.arguments)},
          {"device", plain_json(result.device())},
          {"values", plain_json(result.values)},
          {"score_ns", number_or_null(result.score_ns())},
          {"prior", is_prior(result.device())},
          {"tuned_at", text_of(result.columns, "tuned_at")}};
}

/// The time of a result, or a mark for a prior.
std::string time_of(const json& result) {
  if (result["prior"].get<bool>()) return "prior";
  const json& score = result["score_ns"];
  return time_text(score.is_number() ? std::optional(score.get<double>()) : std::nullopt);
}

void run(const invocation& shared, const show_options& options) {
  if (options.function.empty()) return run_list(shared);
  database_reader database(shared.database_path());
  const function_identity function = find_function(database, options.function);
  row_choice rows = options.device.rows();
  if (!options.arguments.empty()) rows.arguments = parse_key(function, options.arguments);
  tuning_database searches(shared.database_path(), {}, database_access::read_only);
  row_printer printer(
      shared.json,
      {{"function", function.name}, {"version", function.version}, {"goal", goal_text(function)}},
      "results",
      {{"KEY", "arguments"},
       {"VALUES", "values"},
       {"TIME", "score_ns", time_of},
       {"TUNED AT", "tuned_at"},
       {"INPUTS", "inputs"},
       {"DEVICE", "device"}});
  database.for_each_result(function, rows, [&](const result_content& result) {
    printer.add(row_of(result, inputs_of(searches, function, result)));
  });
  printer.end();
}

struct trials_options {
  std::string function;
  search_choice search;
  bool all = false;
};

json to_json(const trial_content& trial) {
  return {{"configuration", plain_json(trial.configuration)},
          {"outcome", text_of(trial.columns, "outcome")},
          {"message", text_of(trial.columns, "message")},
          {"score_ns", number_or_null(trial.score_ns())},
          {"score_lower_ns", number_or_null(trial.score_lower_ns())},
          {"score_upper_ns", number_or_null(trial.score_upper_ns())},
          {"samples_ns", trial.samples_ns()},
          {"metrics", detail::metrics_json(trial.metrics())}};
}

std::string metrics_text(const json& row) {
  std::vector<metric> metrics;
  for (const auto& [name, item] : row["metrics"].items()) {
    const json& number = item["value"];
    metrics.push_back(
        {name, number.is_number() ? number.get<double>() : std::numeric_limits<double>::quiet_NaN(),
         item["unit"].get<std::string>()});
  }
  return format_metrics(metrics);
}

/// The configurations of the Pareto front of a search with several objectives.
json front_of(const search_content& search, const tuning_goal& goal) {
  json front = json::array();
  if (goal.objectives.size() < 2) return front;
  const auto value = [&](std::size_t i, const std::string& name) {
    trial one;
    one.metrics = search.trials[i].metrics();
    if (const auto score = search.trials[i].score_ns()) one.score = run_time(*score);
    for (const double time : search.trials[i].samples_ns()) one.samples.add(run_time(time));
    return one.score ? metric_value(one, name) : std::numeric_limits<double>::quiet_NaN();
  };
  for (const std::size_t place : pareto_front(goal, search.trials.size(), value)) {
    front.push_back(plain_json(search.trials[place].configuration));
  }
  return front;
}

/// The inputs of a search: "author", or the captured frames.
std::string inputs_of(const search_content& search) {
  const std::string inputs = text_of(search.columns, "inputs");
  return inputs.empty() ? "author" : inputs;
}

json to_json(const search_content& search, const tuning_goal& goal) {
  json trials = json::array();
  for (const trial_content& trial : search.trials) trials.push_back(to_json(trial));
  return {{"search", search.id},
          {"arguments", text_of(search.columns, "arguments")},
          {"device", plain_json(search.device())},
          {"started_at", text_of(search.columns, "started_at")},
          {"finished_at", text_of(search.columns, "finished_at")},
          {"result", text_of(search.columns, "result")},
          {"strategy", text_of(search.columns, "strategy")},
          {"ending", text_of(search.columns, "ending")},
          {"inputs", inputs_of(search)},
          {"goal", to_string(goal)},
          {"front", front_of(search, goal)},
          {"trials", std::move(trials)}};
}

/// The course of a search: "found, strategy model, ended by: no more gain expected".
std::string course_text(const search_content& search) {
  const bool is_over = !text_of(search.columns, "finished_at").empty();
  std::string text = is_over ? text_of(search.columns, "result") : "not finished";
  const std::string strategy = text_of(search.columns, "strategy");
  const std::string ending = text_of(search.columns, "ending");
  const std::string inputs = text_of(search.columns, "inputs");
  if (!inputs.empty()) text += ", inputs " + inputs;
  if (!strategy.empty()) text += ", strategy " + strategy;
  if (!ending.empty()) text += ", ended by: " + ending;
  const auto bound = search.columns.find("loss_bound");
  if (bound == search.columns.end() || ending != "target") return text;
  if (const auto* loss = std::get_if<double>(&bound->second)) {
    text += fmt::format(" (it may lose {:.2g} % in nine of ten cases)", 100 * *loss);
  }
  return text;
}

void print_text(search_content search, const tuning_goal& goal) {
  print("search {}: {} on {}, started {}, {}\n", search.id, text_of(search.columns, "arguments"),
        to_text(search.device()), text_of(search.columns, "started_at"), course_text(search));
  std::ranges::stable_sort(search.trials, {}, [](const trial_content& trial) {
    return trial.score_ns().value_or(std::numeric_limits<double>::infinity());
  });
  if (!goal.is_time()) print("goal: {}\n", to_string(goal));
  const json shown = to_json(search, goal);
  for (const json& configuration : shown["front"]) {
    print("on the Pareto front: {}\n", detail::json_text(configuration));
  }
  print_rows(false, {}, shown["trials"],
             {{"TIME", "score_ns"},
              {"FROM", "score_lower_ns"},
              {"TO", "score_upper_ns"},
              {"SAMPLES", "samples_ns"},
              {"METRICS", nullptr, metrics_text},
              {"CONFIGURATION", "configuration"},
              {"OUTCOME", nullptr, outcome_text}});
}

void run(const invocation& shared, const trials_options& options) {
  database_reader database(shared.database_path());
  const function_identity function = find_function(database, options.function);
  const tuning_goal goal = detail::split_name(function.name).second;
  std::optional<detail::json_stream> document;
  if (shared.json) {
    document = printed_json();
    document->begin_object();
    document->add_members({{"function", function.name}, {"version", function.version}});
    document->begin_array("searches");
  }
  const auto print_search = [&](search_content search) {
    if (document) {
      document->add(to_json(search, goal));
    } else {
      print_text(std::move(search), goal);
    }
  };
  if (options.all) {
    for (const std::int64_t number : options.search.find(database, function)) {
      if (auto search = database.read_search(number)) print_search(*std::move(search));
    }
  } else {
    print_search(options.search.latest(database, function));
  }
  if (!document) return;
  document->end();
  document->end();
  print("\n");
}

}  // namespace

void add_list(CLI::App& program, invocation& shared) {
  CLI::App* command = program.add_subcommand(
      "list", "The functions of the database: versions, numbers of results and trials, devices");
  command->callback([&shared] { run_list(shared); });
}

void add_show(CLI::App& program, invocation& shared) {
  const auto options = std::make_shared<show_options>();
  CLI::App* command = program.add_subcommand("show", "The results of a function, a line for each");
  command->add_option("FUNCTION", options->function,
                      "A name, or NAME__VERSION; without it, the functions, as list shows them");
  command
      ->add_option("--arg", options->arguments,
                   "A field of the key, as NAME=VALUE; all of them or none")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  options->device.add_to(*command);
  command->callback([&shared, options] { run(shared, *options); });
}

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
