// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Libtune's side of the comparison: tunes one space once and prints a JSON object about it for
// compare.py. README.md beside this file describes the measurement.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <exception>
#include <iostream>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bench/compare/convolution.hpp"
#include "bench/compare/searches.hpp"
#include "examples/common/choose_device.hpp"
#include "libtune/base/json.hpp"

namespace {

using compare::search_record;
using compare::seconds;
using tune::detail::json;

struct arguments {
  std::string space = "tiled";
  std::string strategy = "default";
  std::string budget;
  std::size_t size = 4096;
  std::optional<std::size_t> device;
  std::string backend = "CUDA";
  std::vector<std::string> shapes;
  std::size_t ranking = 10;
  std::string print_source;
  bool check = false;
};

void declare(CLI::App& app, arguments& given) {
  app.add_option("--space", given.space, "what to tune")
      ->check(CLI::IsMember(compare::space_names()));
  app.add_option("--strategy", given.strategy, "its name, or default: what libtune does unasked");
  app.add_option("--budget", given.budget, "limits, as LIBTUNE_BUDGET takes them: 120 s");
  app.add_option("--size", given.size, "rows and columns of the arrays (not of operations)");
  app.add_option("--device", given.device, "index among the devices of all backends");
  app.add_option("--backend", given.backend,
                 "where --device is not given: the first GPU of this backend, CUDA or OpenCL");
  app.add_option("--shape", given.shapes,
                 "ROWSxCOLUMNS to time a tuned operation on, several times if wanted");
  app.add_option("--ranking", given.ranking, "how many of the best to print");
  app.add_option("--print-source", given.print_source,
                 "print the complete CUDA text of a space's kernel, and no more");
  app.add_flag("--check", given.check, "compare the convolution with the host, and no more");
}

tune::device choose_device(const arguments& given) {
  if (given.device) return examples::choose_device(given.device);
  const std::vector<tune::device> devices = tune::all_devices();
  const auto found = std::ranges::find_if(devices, [&](const tune::device& device) {
    return device.info().backend == given.backend && device.kind() == tune::device_kind::gpu;
  });
  if (found != devices.end()) return *found;
  throw tune::no_device_error("there is no GPU of the backend " + given.backend +
                              "; choose another with --backend, or any device with --device");
}

tune::tuning_options options_of(const arguments& given) {
  // The environment's settings are for users' programs.
  tune::tuning_options options{.given_by = tune::option_source::command};
  if (given.strategy != "default") options.strategy = given.strategy;
  options.budget = tune::tuning_budget{};
  if (!given.budget.empty()) {
    options.budget = tune::budget_from_text(given.budget);
    if (!options.budget) {
      throw tune::argument_error("--budget '" + given.budget + "' is not like '120 s, 200 trials'");
    }
  }
  return options;
}

std::vector<compare::matrix_shape> shapes_of(const arguments& given) {
  std::vector<compare::matrix_shape> shapes;
  for (const std::string& text : given.shapes) {
    compare::matrix_shape shape;
    if (std::sscanf(text.c_str(), "%zux%zu", &shape.rows, &shape.columns) != 2) {
      throw tune::argument_error("--shape '" + text + "' is not like '2048x1024'");
    }
    shapes.push_back(shape);
  }
  return shapes;
}

double microseconds(tune::run_time time) { return time.count() / 1e3; }

json counts_of(const std::vector<tune::trial>& trials) {
  std::map<std::string, int> counts;
  for (const tune::trial& item : trials) ++counts[std::string(outcome_name(item.outcome))];
  return counts;
}

json ranking_of(const std::vector<tune::trial>& trials, std::size_t count) {
  std::vector<const tune::trial*> measured;
  for (const tune::trial& item : trials) {
    if (item.score) measured.push_back(&item);
  }
  std::ranges::stable_sort(measured, {}, [](const tune::trial* item) { return *item->score; });
  measured.resize(std::min(measured.size(), count));
  json ranking = json::array();
  for (const tune::trial* item : measured) {
    ranking.push_back({{"configuration", tune::detail::plain_json(item->configuration)},
                       {"us", microseconds(*item->score)},
                       {"samples", item->samples.size()},
                       {"dropped", item->dropped}});
  }
  return ranking;
}

json times_of(const tune::search_times& times) {
  return {{"measuring", seconds(times.measuring).count()},
          {"waiting", seconds(times.waiting).count()},
          {"idle", seconds(times.idle).count()},
          {"idle_overlap", seconds(times.idle_overlap).count()}};
}

json shapes_to_json(const std::vector<compare::timed_shape>& timed) {
  json all = json::array();
  for (const compare::timed_shape& item : timed) {
    all.push_back({{"rows", item.shape.rows},
                   {"columns", item.shape.columns},
                   {"us", microseconds(item.median)}});
  }
  return all;
}

json to_json(const arguments& given, const tune::device& device, seconds context,
             const search_record& record) {
  const std::vector<tune::trial>& trials = record.finished.trials;
  const auto measured =
      std::ranges::count_if(trials, [](const auto& t) { return t.score.has_value(); });
  const auto dropped = std::ranges::count_if(trials, &tune::trial::dropped);
  json best = nullptr;
  json best_time = nullptr;
  if (record.finished.best) {
    const tune::trial& winner = trials[*record.finished.best];
    best = tune::detail::plain_json(winner.configuration);
    best_time = microseconds(*winner.score);
  }
  return {{"tool", "libtune"},
          {"space", given.space},
          {"size", given.size},
          {"device", device.name()},
          {"backend", device.info().backend},
          {"strategy", record.started.strategy},
          {"budget", given.budget},
          {"end", search_end_name(record.finished.end)},
          {"context_seconds", context.count()},
          {"seconds", record.elapsed.count()},
          {"combinations", record.started.combinations},
          {"tried", trials.size()},
          {"measured", measured},
          {"failed", static_cast<std::ptrdiff_t>(trials.size()) - measured},
          {"dropped", dropped},
          {"outcomes", counts_of(trials)},
          {"configurations_per_second", static_cast<double>(measured) / record.elapsed.count()},
          {"best", best},
          {"best_us", best_time},
          {"times", times_of(record.finished.times)},
          {"doubts", record.finished.doubts},
          {"ranking", ranking_of(trials, given.ranking)},
          {"shapes", shapes_to_json(record.timed)}};
}

int check(const arguments& given) {
  constexpr std::size_t size = 150;  // no multiple of any area
  constexpr double allowed = 1e-3;   // sums of 289 products are about 72
  const tune::context context = choose_device(given).create_context();
  const double difference = compare::check_convolution(context, size);
  const bool right = difference <= allowed;
  std::cout << json{{"space", "convolution"},
                    {"right", right},
                    {"largest_difference", tune::detail::number_or_null(difference)}}
            << '\n';
  return right ? 0 : 1;
}

int run(const arguments& given) {
  if (!given.print_source.empty()) {
    std::cout << compare::source_of(given.print_source);
    return 0;
  }
  if (given.check) return check(given);
  const tune::device device = choose_device(given);
  const auto start = std::chrono::steady_clock::now();
  const tune::context context = device.create_context();
  const seconds context_time = std::chrono::steady_clock::now() - start;
  const tune::tuning_options options = options_of(given);
  const search_record record =
      compare::is_operation(given.space)
          ? compare::tune_operation(context, options, given.space, shapes_of(given))
          : compare::search_space(context, options, given.space, given.size);
  std::cout << to_json(given, device, context_time, record) << '\n';
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    CLI::App app("Tunes one space once with libtune, and prints a JSON object about it.");
    arguments given;
    declare(app, given);
    CLI11_PARSE(app, argc, argv);
    return run(given);
  } catch (const std::exception& failure) {
    std::cerr << "compare_libtune: " << failure.what() << '\n';
    return 1;
  }
}
