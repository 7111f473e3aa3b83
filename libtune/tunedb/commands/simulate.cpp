// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>
#include <filesystem>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fstream>
#include <memory>
#include <unistd.h>

#include "libtune/base/plain_text.hpp"
#include "libtune/extra/maintenance/database_reader.hpp"
#include "libtune/extra/maintenance/merge.hpp"
#include "libtune/extra/simulate/libtune_recording.hpp"
#include "libtune/extra/simulate/read_recording.hpp"
#include "libtune/extra/simulate/strategy_score.hpp"
#include "libtune/search/strategy/strategy.hpp"
#include "libtune/tunedb/commands/commands.hpp"
#include "libtune/tunedb/output.hpp"
#include "libtune/tunedb/report/report_data.hpp"
#include "libtune/tunedb/report/report_page.hpp"
#include "libtune/tunedb/selection.hpp"

namespace tune::cli {
namespace {

constexpr double ns_of_a_ms = 1e6;

struct simulate_options {
  std::string file;
  std::vector<std::string> strategies;
  std::size_t searches = 25;
  std::uint64_t seed = 0;
  std::string objective;
  std::string function;
  search_choice search;
  std::string report;
  bool force = false;
};

std::optional<objective> objective_from(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const auto goal = goal_from_text(text);
  if (!goal || goal->objectives.size() != 1 || !goal->constraints.empty()) {
    throw usage_error("'" + text + "' is no objective such as 'min energy' or 'max gflop_s'");
  }
  return goal->objectives.front();
}

bool is_database(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string start(15, '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  return start == "SQLite format 3";
}

/// The searches of one function of a database, of one key on one device.
recorded_space recorded_in_database(const simulate_options& options) {
  if (options.function.empty()) {
    throw usage_error("'" + options.file + "' is a database: name the function with --function");
  }
  database_reader database(options.file, database_access::read_only);
  function_content content{.function = find_function(database, options.function)};
  for (const std::int64_t number : options.search.find(database, content.function)) {
    if (auto search = database.read_search(number)) content.searches.push_back(*std::move(search));
  }
  return detail::recorded_in({.functions = {content}}, content.function.name);
}

recorded_space recorded_of(const simulate_options& options) {
  if (is_database(options.file)) return recorded_in_database(options);
  constexpr std::size_t most_bytes = std::size_t{1} << 32;
  return read_recording(std::filesystem::path(options.file), most_bytes,
                        objective_from(options.objective));
}

std::size_t measured_in(const recorded_space& space) {
  return static_cast<std::size_t>(std::ranges::count_if(
      space.recordings(), [](const recording& each) { return each.score_ms.has_value(); }));
}

json to_json(const strategy_score& made) {
  return {{"strategy", made.strategy},
          {"score", made.score},
          {"uncertainty", made.uncertainty},
          {"best_over_optimum", made.ratio},
          {"scores", made.scores}};
}

void print_scores(const recorded_space& space, const scoring& by,
                  const std::vector<strategy_score>& scores, bool as_json) {
  if (as_json) {
    json document{{"space", space.name()},          {"configurations", space.size()},
                  {"measured", measured_in(space)}, {"optimum_ms", by.baseline().optimum_ms()},
                  {"budget_ms", by.budget_ms()},    {"strategies", json::array()}};
    for (const strategy_score& each : scores) document["strategies"].push_back(to_json(each));
    return print_json(document);
  }
  print("{}: {} configurations, {} of them measured; {:.1f} s as the budget of each search\n",
        space.name(), space.size(), measured_in(space), by.budget_ms() / 1e3);
  print("{:<16} {:>7} {:>7} {:>15}\n", "strategy", "score", "+-", "best / optimum");
  for (const strategy_score& each : scores) {
    print("{:<16} {:>7.3f} {:>7.3f} {:>15.3f}\n", each.strategy, each.score, each.uncertainty,
          each.ratio);
  }
}

std::string date_at(double seconds) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

/// The typical search of a strategy in the form of a stored one, beginning at a date.
search_content search_of(const strategy_score& made, const recorded_space& space, double begin) {
  search_content search{.columns = search_columns({}, {"recorded measurements", "", "", {}, {}})};
  search.columns["strategy"] = made.strategy;
  search.columns["ending"] = std::string("the budget of the comparison");
  search.columns["started_at"] = date_at(begin);
  search.columns["result"] = std::string("found");
  double end = begin;
  for (const simulated_step& step : made.searches[made.typical]) {
    const recording& known = space[step.index];
    trial_content& trial = search.trials.emplace_back();
    trial.configuration = space.space().values(step.index);
    end = begin + step.finished_ms / 1e3;
    json samples = json::array();
    for (const double sample : known.samples_ms) samples.push_back(sample * ns_of_a_ms);
    const double preparation = known.compile_ms * ns_of_a_ms;
    trial.columns = {{"outcome", std::string(known.score_ms ? "measured" : "failed")},
                     {"message", known.failure},
                     {"samples_ns", samples.dump()},
                     {"preparation_ns", static_cast<std::int64_t>(std::llround(preparation))},
                     {"made_at", date_at(end)}};
    if (known.score_ms) trial.columns["score_ns"] = *known.score_ms * ns_of_a_ms;
  }
  search.columns["finished_at"] = date_at(end);
  return search;
}

/// A folder that is removed at the end.
class scratch_folder {
 public:
  scratch_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "libtune-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw error("no folder '" + name + "' can be made");
    path_ = name;
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  ~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::string function_name(const recorded_space& space) {
  std::string name = "simulated.";
  for (const char each : space.name()) name += detail::is_word(each) ? each : '_';
  return name;
}

/// A report of the typical search of each strategy, as if a database held them.
void write_report(const simulate_options& options, const recorded_space& space,
                  const std::vector<strategy_score>& scores) {
  require_report_page();
  const std::string target = export_target(options.report, options.file, false, options.force);
  function_content one{.function = {.name = function_name(space)}};
  for (const parameter& item : space.space().parameters()) {
    one.function.value_fields.push_back(infer_field(item.name, item.candidates));
  }
  double begin = 0;
  for (const strategy_score& each : scores) {
    one.searches.push_back(search_of(each, space, begin));
    begin += each.searches[each.typical].empty()
                 ? 1
                 : each.searches[each.typical].back().finished_ms / 1e3 + 1;
  }
  const scratch_folder folder;
  const std::string database = (folder.path() / "simulated.db").string();
  const merge_report merged = merge_content(database, {.functions = {one}});
  if (merged.left > 0) throw error("the report cannot be made: " + merged.reasons.front());
  write_file_by(target, [&](const detail::text_sink& put) {
    write_report_page(put, [&] { write_report_data({.databases = {database}}, put); });
  });
}

void run(const invocation& shared, const simulate_options& options) {
  const recorded_space space = recorded_of(options);
  const scoring by{random_baseline(space)};
  std::vector<strategy_score> scores;
  for (const std::string& name :
       options.strategies.empty() ? strategy_names() : options.strategies) {
    scores.push_back(score_strategy(name, space, by, options.searches, options.seed));
  }
  print_scores(space, by, scores, shared.json);
  if (!options.report.empty()) write_report(options, space, scores);
}

}  // namespace

void add_simulate(CLI::App& program, invocation& shared) {
  const auto options = std::make_shared<simulate_options>();
  CLI::App* command = program.add_subcommand(
      "simulate",
      "Lets strategies search a space that was measured before, without a device, and compares "
      "them "
      "with random search as the literature does: 0 is as good as random search, 1 is the optimum "
      "at "
      "once, below 0 is worse. The time of each search is the one after which random search is "
      "expected at 95 % of the way from the median to the optimum");
  command
      ->add_option("FILE", options->file,
                   "A cache file of Kernel Tuner, T4 or an export of tunedb, also with gzip, or a "
                   "database of libtune")
      ->required();
  command
      ->add_option("--strategy", options->strategies,
                   "A strategy, as LIBTUNE_STRATEGY takes it; may be repeated. Without it, all")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command
      ->add_option("--searches", options->searches,
                   "The searches of each, with a seed each; 25 unless given")
      ->type_name("COUNT")
      ->check(CLI::Range(1, 1'000'000));
  command->add_option("--seed", options->seed, "The seed of the first search; 0 unless given")
      ->type_name("NUMBER");
  command
      ->add_option(
          "--objective", options->objective,
          "The figure to compare, as 'max gflop_s'; without it, what the file was tuned for")
      ->type_name("GOAL");
  command
      ->add_option("--function", options->function,
                   "The function in a database: NAME, or NAME__VERSION")
      ->type_name("NAME");
  options->search.add_to(*command);
  command
      ->add_option("--report", options->report,
                   "A page of HTML with pictures of the typical search of each strategy")
      ->type_name("PAGE");
  command->add_flag("--force", options->force, "Also over a file that is no report or export");
  command->callback([&shared, options] { run(shared, *options); });
}

}  // namespace tune::cli
