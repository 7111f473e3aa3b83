// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/ahead/recheck.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <set>
#include <string>
#include <unistd.h>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/console/result_text.hpp"
#include "libtune/extra/ahead/canary.hpp"
#include "libtune/extra/maintenance/database_reader.hpp"
#include "libtune/extra/ranged/portfolio_core.hpp"
#include "libtune/extra/shared/shared_results.hpp"
#include "libtune/extra/shared/shared_store.hpp"
#include "libtune/tunedb/application.hpp"
#include "libtune/tunedb/commands/commands.hpp"
#include "libtune/tunedb/key_list.hpp"
#include "libtune/tunedb/output.hpp"
#include "libtune/tunedb/pretune_report.hpp"
#include "libtune/tunedb/recheck_report.hpp"
#include "libtune/tunedb/selection.hpp"

namespace tune::cli {
namespace {

struct recheck_request {
  std::string application;
  std::vector<std::string> arguments;
  std::vector<std::string> functions;
  std::vector<std::string> key;
  std::string keys_file;
  device_choice device;
  bool all_devices = false;
  std::size_t runners_up = 4;
  double within = 2;  // per cent
  double time = 1;    // seconds
  bool repair = false;
  bool canary = false;
  std::string junit_file;
  std::string json_file;
};

bool is_named(const function_identity& function, const std::vector<std::string>& names) {
  return names.empty() || std::ranges::any_of(names, [&](const std::string& text) {
           const auto [name, version] = split_function(text);
           return (function.name == name || own_name(function.name) == name) &&
                  (!version || function.version == *version);
         });
}

bool is_portfolio(const function_identity& function) {
  return std::ranges::find(function.value_fields, detail::portfolio_column,
                           &field_description::name) != function.value_fields.end();
}

std::string text_of_key(const function_identity& function, const std::vector<named_value>& key) {
  return fmt::format("{}\n{}\n{}", own_name(function.name), function.version, canonical_text(key));
}

/// The keys of --keys or --arg, as text; empty: all keys.
std::set<std::string> chosen_keys(const recheck_request& request, database_reader& database) {
  std::set<std::string> chosen;
  if (!request.keys_file.empty()) {
    for (const pretuning_item& item :
         parse_key_list(read_file(request.keys_file), database.identities(), request.keys_file)) {
      chosen.insert(text_of_key(item.function, item.key));
    }
    if (chosen.empty()) throw nothing_found("'" + request.keys_file + "' names no key");
  }
  if (!request.key.empty()) {
    const function_identity function = find_function(database, request.functions.front());
    chosen.insert(text_of_key(function, parse_key(function, request.key)));
  }
  return chosen;
}

std::vector<stored_winner> read_winners(const recheck_request& request, const std::string& path,
                                        const std::vector<device>& devices) {
  database_reader database(path, database_access::read_only);
  if (!database.has_tables()) throw nothing_found("there is no database '" + path + "'");
  const std::set<std::string> chosen = chosen_keys(request, database);
  std::size_t portfolios = 0;
  const auto takes = [&](const function_identity& function, const std::vector<named_value>& key) {
    const bool is_chosen = is_named(function, request.functions) &&
                           (chosen.empty() || chosen.contains(text_of_key(function, key)));
    if (is_chosen && is_portfolio(function)) ++portfolios;
    return is_chosen && !is_portfolio(function);
  };
  found_winners found =
      find_winners(path, {.takes = takes, .driver = request.device.driver}, devices);
  if (found.of_other_devices > 0) {
    print(stderr, "tunedb: {} results are of devices that are not here\n", found.of_other_devices);
  }
  if (found.winners.empty())
    throw nothing_found("'" + path + "' has no such results for this machine");
  return std::move(found.winners);
}

std::vector<device> choose_devices(const recheck_request& request) {
  // The driver is that of the stored results: a new driver is a reason to compare them again.
  const device_choice here{.name = request.device.name, .platform = request.device.platform};
  auto devices = devices_for(here, request.all_devices, {}, "compared");
  if (devices.empty()) throw nothing_found("there is no such device here");
  return devices;
}

recheck_options options_of(const recheck_request& request, const std::string& database) {
  if (!request.key.empty() && !request.keys_file.empty()) {
    throw usage_error("--arg and --keys exclude each other");
  }
  if (!request.key.empty() && request.functions.size() != 1) {
    throw usage_error("--arg is of one function: name it with --function");
  }
  if (!(request.within >= 0)) throw usage_error("--within takes a percentage from 0 on");
  if (!(request.time >= 0.001 && request.time <= 3600)) {
    throw usage_error("--time takes seconds, from 0.001 to 3600");
  }
  recheck_options options;
  options.tuning.database = database;
  options.runners_up = request.runners_up;
  options.within = request.within / 100;
  options.time = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(request.time));
  options.repair = request.repair || request.canary;
  options.stop = interruption::has_come;
  return options;
}

void tell_of_plan(std::size_t count, const std::vector<device>& devices,
                  const recheck_request& request) {
  const double most =
      static_cast<double>(count) * request.time / static_cast<double>(devices.size());
  print(stderr,
        "tunedb: {} results are compared again, for at most {} of device time, besides compiling "
        "and checking\n",
        count,
        format_clock(std::chrono::duration_cast<std::chrono::nanoseconds>(
            std::chrono::duration<double>(most))));
}

exit_code code_for(const std::vector<recheck_result>& results) {
  const verdict_counts counts = count_verdicts(results);
  const auto has = [&](recheck_verdict verdict) {
    return counts.at(static_cast<std::size_t>(verdict)) > 0;
  };
  if (has(recheck_verdict::wrong)) return wrong_results;
  if (has(recheck_verdict::lost)) return lost_results;
  if (interruption::has_come()) return interrupted;
  const bool is_left = std::ranges::any_of(
      results, [](const recheck_result& result) { return !result.decision_failure.empty(); });
  if (is_left || has(recheck_verdict::unknown)) return keys_failed;
  return has(recheck_verdict::holds) || results.empty() ? done : not_found;
}

/// The store of the new results.
std::unique_ptr<shared_store> open_shared_store(const invocation& shared) {
  const std::string url = shared.settings().shared_store;
  if (url.empty()) throw usage_error("--canary needs a shared store: set LIBTUNE_SHARED_DB");
  constexpr shared_store::waits patient{.connect = std::chrono::seconds(10),
                                        .answer = std::chrono::seconds(60)};
  return std::make_unique<shared_store>(url, find_store_driver(url), patient);
}

canary_results read_canaries(shared_store& store, const std::vector<stored_winner>& winners) {
  canary_results found = find_canaries(
      store, winners, [](const std::string& reason) { print(stderr, "tunedb: {}\n", reason); });
  print(stderr, "tunedb: {} of {} results are new; {} has the others{}\n", found.winners.size(),
        winners.size(), store.name(),
        found.of_other_software > 0
            ? fmt::format(", or they are of other software ({})", found.of_other_software)
            : std::string());
  return found;
}

/// The files of the reports; empty ones are not written.
struct report_files {
  std::string json{};
  std::string junit{};
};

/// Finds the files before anything is compared, so that a bad name does not cost the verdicts.
report_files files_of(const recheck_request& request, const std::string& database) {
  const auto target = [&](const std::string& path) {
    if (path.empty()) return path;
    std::string found = export_target(path, database, false, true);
    const auto folder = std::filesystem::path(found).parent_path();
    if (found != "-" && ::access(folder.empty() ? "." : folder.c_str(), W_OK) != 0) {
      throw error(fmt::format("no file can be written in the folder of '{}'", path));
    }
    return found;
  };
  return {.json = target(request.json_file), .junit = target(request.junit_file)};
}

void write_reports(const invocation& shared, const report_files& files, const json& document,
                   const std::vector<recheck_result>& results) {
  if (shared.json) {
    print_json(document);
  } else {
    print_table_of(results);
    print("{}\n", summary_of(results));
  }
  if (!files.json.empty()) write_file(files.json, detail::json_text(document, 2) + "\n");
  if (!files.junit.empty()) write_file(files.junit, recheck_junit(results));
}

exit_code run(const invocation& shared, const recheck_request& request) {
  const std::string path = shared.database_path();
  recheck_options options = options_of(request, path);
  const report_files files = files_of(request, path);
  const tuner_program application = application_of(request.application, request.arguments);
  // First, so that a program that does not serve is not reported as a lack of results.
  static_cast<void>(functions_of(application));
  const std::vector<device> devices = choose_devices(request);
  const auto store = request.canary ? open_shared_store(shared) : nullptr;
  std::vector<stored_winner> winners = read_winners(request, path, devices);
  canary_results canaries;
  if (store) {
    canaries = read_canaries(*store, winners);
    winners = canaries.winners;
    options.rivals = [&](const stored_winner& of) {
      std::vector<std::vector<named_value>> rivals;
      if (const auto* const values = canaries.shared_values(of)) rivals.push_back(*values);
      return rivals;
    };
  }
  tell_of_plan(winners.size(), devices, request);
  const interruption watched;
  recheck_report report;
  options.listener = &report;
  std::vector<recheck_result> results = recheck(application, winners, devices, options);
  if (store) decide_canaries(*store, canaries, path, options.within, results);
  sort_worst_first(results);
  write_reports(shared, files,
                recheck_document(results, path, request.within / 100, interruption::has_come()),
                results);
  return code_for(results);
}

void add_selection(CLI::App* command, const std::shared_ptr<recheck_request>& request) {
  command
      ->add_option("--app", request->application,
                   "The application, as a path; without it the built-in operations")
      ->type_name("FILE");
  command->add_option("ARGUMENTS", request->arguments, "What to start it with, after --");
  command
      ->add_option("--function", request->functions,
                   "Only results of these functions: names, or NAME__VERSION")
      ->type_name("NAME")
      ->allow_extra_args(false);
  command
      ->add_option("--keys", request->keys_file,
                   "Only these keys, as pretune takes them; - is standard input")
      ->type_name("FILE");
  command->add_option("--arg", request->key, "A field of the one key of --function, as NAME=VALUE")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  request->device.add_to(*command);
  command->add_flag("--all-devices", request->all_devices,
                    "Compares for all devices that fit, by all of their platforms");
}

}  // namespace

void add_recheck(CLI::App& program, invocation& shared) {
  const auto request = std::make_shared<recheck_request>();
  CLI::App* command = program.add_subcommand(
      "recheck",
      "Compares stored results again on this machine, with their runners-up and the test default: "
      "after a change of the driver, or regularly. Each is checked and measured as in a search, in "
      "turn with the others, and gets a verdict: wrong (it does not work), lost (another is "
      "faster), unknown (the comparison failed), skipped (the application has no use for it) or "
      "holds. Results of the devices that are here count, with any driver (--driver: with this "
      "one). Nothing is stored without --repair");
  add_selection(command, request);
  command
      ->add_option("--within", request->within,
                   "The slowdown in per cent up to which a result holds")
      ->type_name("PERCENT")
      ->capture_default_str();
  command
      ->add_option("--runners-up", request->runners_up,
                   "The most stored trials of its search that a result is compared with")
      ->type_name("N")
      ->capture_default_str();
  command
      ->add_option("--time", request->time,
                   "The device time to compare one key, in seconds, besides compiling and checking")
      ->type_name("SECONDS")
      ->capture_default_str();
  command->add_flag("--repair", request->repair,
                    "Stores the better configuration where a result is wrong or lost, and results "
                    "of another driver that hold for this one, too");
  command->add_flag(
      "--canary", request->canary,
      "Compares the results of this database that LIBTUNE_SHARED_DB lacks or has "
      "with other values: each is promoted there if it is better than the shared one, "
      "and withdrawn if it is wrong or lost, here too as by --repair. share log lists "
      "the decisions");
  command
      ->add_option("--junit", request->junit_file,
                   "Also writes the verdicts as JUnit XML, for continuous integration")
      ->type_name("FILE");
  command->add_option("--json-file", request->json_file, "Also writes what --json prints")
      ->type_name("FILE");
  command->callback([&shared, request] { shared.result = run(shared, *request); });
}

}  // namespace tune::cli
