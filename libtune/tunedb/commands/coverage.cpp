// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <memory>
#include <sstream>

#include "libtune/console/reports.hpp"
#include "libtune/console/trial_json.hpp"
#include "libtune/extra/maintenance/database_reader.hpp"
#include "libtune/store/database/stored_trial.hpp"
#include "libtune/tune/goal.hpp"
#include "libtune/tunedb/commands/commands.hpp"
#include "libtune/tunedb/output.hpp"
#include "libtune/tunedb/selection.hpp"

namespace tune::cli {
namespace {

struct coverage_options {
  std::string function;
  search_choice search;
  bool csv = false;
};

coverage coverage_of(const function_identity& function, const search_content& search) {
  const auto objectives = detail::split_name(function.name).second.objectives;
  const objective first = objectives.empty() ? objective{} : objectives.front();
  coverage_figure figure{.name = first.metric, .maximise = first.maximise};
  std::vector<tried_configuration> tried;
  for (const trial_content& trial : search.trials) {
    tried.push_back({trial.configuration, trial.score_ns(), text_of(trial.columns, "outcome")});
    if (first.metric == "time") continue;
    const std::vector<metric> metrics = trial.metrics();
    const metric* own = find_metric(metrics, first.metric);
    tried.back().score.reset();
    if (own == nullptr) continue;
    tried.back().score = own->value;
    figure.unit = own->unit;
  }
  // An unfinished search, and one of an older libtune, has no outline.
  const auto kept = detail::space_from_json(text_of(search.columns, "outline"));
  return {detail::outline_of(kept), tried, {}, std::move(figure)};
}

void run(const invocation& shared, const coverage_options& options) {
  database_reader database(shared.database_path());
  const function_identity function = find_function(database, options.function);
  const search_content search = options.search.latest(database, function);
  const coverage tried = coverage_of(function, search);
  if (shared.json) {
    json document{{"function", function.name}, {"version", function.version}};
    document["search"] = search.id;
    document["result"] = text_of(search.columns, "result");
    document.update(detail::plain_json(tried));
    return print_json(document);
  }
  std::ostringstream text;
  if (options.csv) {
    write_coverage_csv(text, tried);
  } else {
    text << fmt::format("search {}: {} on {}, {}\n", search.id,
                        text_of(search.columns, "arguments"), to_text(search.device()),
                        text_of(search.columns, "finished_at").empty()
                            ? "not finished"
                            : text_of(search.columns, "result"));
    write_coverage(text, tried);
  }
  print("{}", text.str());
}

}  // namespace

void add_coverage(CLI::App& program, invocation& shared) {
  const auto options = std::make_shared<coverage_options>();
  CLI::App* command = program.add_subcommand(
      "coverage",
      "The latest search of a function by its parameters, the most important first: how often each "
      "value was tried and measured, its best time, and the factor that it costs, all else being "
      "equal, with a 95 % interval");
  command->add_option("FUNCTION", options->function, "A name, or NAME__VERSION")->required();
  options->search.add_to(*command);
  command->add_flag("--csv", options->csv, "Prints CSV");
  command->callback([&shared, options] { run(shared, *options); });
}

}  // namespace tune::cli
