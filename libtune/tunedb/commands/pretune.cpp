// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libtune/base/environment.hpp"
#include "libtune/base/error.hpp"
#include "libtune/child/remote_tuning.hpp"
#include "libtune/extra/ahead/communicator.hpp"
#include "libtune/store/database/missed_keys.hpp"
#include "libtune/store/database/tuning_layers.hpp"
#include "libtune/tune/databases.hpp"
#include "libtune/tunedb/application.hpp"
#include "libtune/tunedb/captured_items.hpp"
#include "libtune/tunedb/commands/commands.hpp"
#include "libtune/tunedb/key_list.hpp"
#include "libtune/tunedb/output.hpp"
#include "libtune/tunedb/pretune_report.hpp"
#include "libtune/tunedb/selection.hpp"

namespace tune::cli {
namespace {

struct pretune_request {
  std::string from;
  std::string application;
  std::vector<std::string> arguments;
  std::string function;
  std::vector<std::string> key;
  std::string keys_file;
  std::string strategy;
  std::string budget;
  std::string memory;
  std::string goal;
  device_choice device;
  bool all_devices = false;
  bool missed = false;
  bool force = false;
  bool list = false;
  bool mpi = false;

  /// Its children search with the captured contents.
  tuner_program program() const {
    tuner_program made = application_of(application, arguments);
    if (!from.empty()) {
      made.variables.push_back("LIBTUNE_INPUTS=" + std::filesystem::absolute(from).string());
    }
    return made;
  }
};

void print_functions(const std::vector<remote_function>& functions, bool as_json) {
  json list = json::array();
  for (const remote_function& function : functions) {
    json fields = json::object();
    for (const field_description& field : function.identity.key_fields) {
      fields[field.name] = {{"type", value_type_name(field.type)}, {"optional", field.optional}};
    }
    list.push_back({{"function", function.identity.name},
                    {"version", function.identity.version},
                    {"key", std::move(fields)},
                    {"test_default", plain_json(function.test_default)}});
  }
  const auto key_text = [](const json& row) {
    std::string text;
    for (const auto& [name, field] : row["key"].items()) {
      text += fmt::format("{}{} ({}{})", text.empty() ? "" : ", ", name,
                          field["type"].get<std::string>(),
                          field["optional"].get<bool>() ? ", or none" : "");
    }
    return text.empty() ? std::string("nothing") : text;
  };
  print_rows(as_json, list, list,
             {{"FUNCTION", nullptr, function_text},
              {"KEY", nullptr, key_text},
              {"TEST DEFAULT", "test_default"}});
}

void keep_those_of(const function_identity& function, std::vector<pretuning_item>& items) {
  std::erase_if(items, [&](const pretuning_item& item) {
    return own_name(item.function.name) != own_name(function.name) ||
           item.function.version != function.version;
  });
}

// A database for shipping has no file of missed keys of its own: programs write it beside the
// database that they use here. Children look there for the requested sizes of portfolios.
void find_missed_file(tuning_settings& settings) {
  if (settings.missed.empty()) {
    throw nothing_found("keys that miss are not noted here: LIBTUNE_MISSED is off");
  }
  if (!missed_keys(settings.missed).read().keys.empty()) return;
  const std::string of_programs = resolve_settings({}).missed;
  if (of_programs.empty() || of_programs == settings.missed) return;
  settings.missed = of_programs;
  ::setenv("LIBTUNE_MISSED", of_programs.c_str(), 1);  // NOLINT(concurrency-mt-unsafe)
}

std::vector<pretuning_item> missed_items(tuning_settings settings,
                                         const std::vector<function_identity>& functions) {
  find_missed_file(settings);
  const auto layers = open_layers(settings, database_access::read_only);
  const auto keys =
      still_missing(missed_keys(settings.missed).read().keys, *layers, lacks_asked_sizes);
  missed_selection selected = select_missed(keys, functions);
  if (keys.empty()) {
    print(stderr, "tunedb: no key of '{}' lacks a result\n", settings.missed);
  }
  if (selected.of_other_programs > 0) {
    print(stderr, "tunedb: {} missed keys are of functions that the application does not have\n",
          selected.of_other_programs);
  }
  return std::move(selected.items);
}

std::vector<pretuning_item> the_one_key(const pretune_request& request,
                                        const function_identity& function) {
  if (request.key.empty() && !function.key_fields.empty()) {
    throw usage_error(fmt::format(
        "which keys of '{}'? They take {}: name them with --keys FILE or --arg, or take those that "
        "programs have missed with --missed",
        table_name(function), fields_of(function.key_fields)));
  }
  return {{.function = function, .key = parse_key(function, request.key)}};
}

std::vector<pretuning_item> choose_items(const pretune_request& request,
                                         const tuning_settings& settings,
                                         const std::vector<function_identity>& functions) {
  const function_identity* function = nullptr;
  if (!request.function.empty()) function = &find_function(functions, request.function);
  std::vector<pretuning_item> items;
  if (!request.keys_file.empty()) {
    const std::string text = read_file(request.keys_file);
    items = parse_key_list(text, functions, request.keys_file);
    if (const std::size_t count = count_asked(text); count > 0) {
      print(stderr,
            "tunedb: {} keys of '{}' have sizes that portfolios were asked for; these count "
            "where the file of missed keys is: name a copy of it with LIBTUNE_MISSED, and take "
            "--missed\n",
            count, request.keys_file);
    }
  } else if (request.missed) {
    items = missed_items(settings, functions);
  } else if (function != nullptr) {
    items = the_one_key(request, *function);
  } else {
    throw usage_error(
        "which keys? Name them with --keys FILE, take those that programs have missed with "
        "--missed, or name a function with --function; --list tells what the application has");
  }
  if (function != nullptr) keep_those_of(*function, items);
  return items;
}

captured_items choose_captured(const pretune_request& request,
                               const std::vector<function_identity>& functions) {
  captured_items captured = find_captured_items(request.from, functions);
  if (!request.function.empty()) {
    const function_identity& only = find_function(functions, request.function);
    std::erase_if(captured.items, [&](const captured_item& each) { return each.function != only; });
  }
  if (!captured.items.empty()) return captured;
  for (const std::string& each : captured.left_out) print(stderr, "tunedb: not used: {}\n", each);
  throw nothing_found("the frames in '" + request.from + "' have no operation whose key is known");
}

std::vector<device> choose_devices(const pretune_request& request,
                                   const std::vector<pretuning_item>& items, bool has_others) {
  std::vector<device_identity> of_keys;
  for (const pretuning_item& item : items) {
    if (item.device) of_keys.push_back(*item.device);
  }
  auto devices = devices_for(request.device, request.all_devices, of_keys, "tuned");
  if (devices.empty() && !has_others) throw nothing_found("there is no such device here");
  return devices;
}

// Reports keys that were missed on a device that this machine does not have.
void tell_of_absent_devices(const std::vector<pretuning_item>& items,
                            const std::vector<device>& devices) {
  const auto absent = std::ranges::count_if(items, [&](const pretuning_item& item) {
    return count_pretunings({&item, 1}, devices) == 0;
  });
  if (absent > 0) {
    print(stderr, "tunedb: {} keys are for devices that are not here\n", absent);
  }
}

tuning_budget parse_budget(const std::string& text) {
  const auto budget = budget_from_text(text);
  if (budget) return *budget;
  throw usage_error(
      "--budget takes limits such as '30 s', '200 trials', 'target 85 us' or 'within 5 %', with "
      "commas between them, and not '" +
      text + "'");
}

memory_budget parse_memory(const std::string& text) {
  const auto memory = memory_budget_from_text(text);
  if (memory) return *memory;
  throw usage_error(
      "--memory takes bytes such as '2 GiB', or a part of the device's memory such as '10 %', and "
      "not '" +
      text + "'");
}

void print_captured(const captured_items& captured, bool as_json) {
  for (const captured_item& each : captured.items) {
    if (as_json) {
      print("{}\n", detail::json_text({{"event", "captured_key"},
                                       {"function", each.function.name},
                                       {"version", each.function.version},
                                       {"arguments", plain_json(each.key)},
                                       {"inputs", each.inputs}}));
    } else {
      print("{} ({}): {}\n", each.function.name, fields_text(each.key), each.inputs);
    }
  }
  for (const std::string& each : captured.left_out) print(stderr, "tunedb: not used: {}\n", each);
}

/// Says which results have not been found with the captured contents.
void tell_of_other_inputs(const std::vector<captured_item>& captured,
                          const std::vector<pretuning_result>& results,
                          const std::string& database) {
  for (const pretuning_result& result : results) {
    if (result.state != pretuning_state::tuned) continue;
    const tuning_subject& subject = result.subject;
    const auto item = std::ranges::find_if(captured, [&](const captured_item& each) {
      return each.function.name == subject.function && each.key == subject.arguments;
    });
    if (item == captured.end()) continue;
    const std::string inputs =
        inputs_of_result(database, item->function, item->key, subject.device.identity);
    if (inputs == item->inputs) continue;
    print(stderr, "tunedb: {} ({}) was tuned with {} in place of {}; the log says why\n",
          subject.function, fields_text(subject.arguments),
          inputs.empty() ? "the inputs of its author" : inputs, item->inputs);
  }
}

/// The goal of all keys, if the command or the environment gives one.
std::optional<tuning_goal> goal_of(const pretune_request& request) {
  if (request.goal.empty()) {
    if (!read_environment("LIBTUNE_OBJECTIVE")) return std::nullopt;
    return resolve_goal({}, {});
  }
  auto goal = goal_from_text(request.goal);
  if (goal) return goal;
  throw usage_error(
      "--objective takes goals such as 'min time' or 'max gflops, power <= 100', and not '" +
      request.goal + "'");
}

exit_code code_for(const std::vector<pretuning_result>& results) {
  const auto has = [&](pretuning_state state) {
    return std::ranges::find(results, state, &pretuning_result::state) != results.end();
  };
  if (interruption::has_come() || has(pretuning_state::stopped)) return interrupted;
  return has(pretuning_state::failed) ? keys_failed : done;
}

exit_code run(const invocation& shared, const pretune_request& request) {
  if (request.application.empty() && request.from.empty()) {
    throw usage_error(
        "which application? Name it with --app; without it, --from tunes the "
        "built-in operations");
  }
  // First, so that a rank that fails later is a lost rank for the others.
  std::optional<communicator> ranks;
  if (!request.list && (request.mpi || is_started_by_mpirun())) {
    ranks.emplace(communicator::meet_by_mpi());
  }
  pretuning_options options;
  if (ranks && ranks->size() > 1) options.ranks = &*ranks;
  options.tuning.strategy = request.strategy;
  if (!request.budget.empty()) options.tuning.budget = parse_budget(request.budget);
  if (!request.memory.empty()) options.tuning.memory = parse_memory(request.memory);
  options.tuning.database = shared.database_path();
  const std::vector<remote_function> found = functions_of(request.program());
  if (request.list) {
    print_functions(found, shared.json);
    return done;
  }
  std::vector<function_identity> functions;
  for (const remote_function& function : found) functions.push_back(function.identity);
  captured_items captured;
  std::vector<pretuning_item> items;
  if (request.from.empty()) {
    items = choose_items(request, shared.settings(), functions);
  } else {
    captured = choose_captured(request, functions);
    print_captured(captured, shared.json);
  }
  if (const auto goal = goal_of(request)) {
    if (!request.goal.empty()) options.tuning.goal = goal;
    const auto set_goal = [&](auto& item) {
      item.function.name = detail::name_with_goal(own_name(item.function.name), *goal);
    };
    std::ranges::for_each(items, set_goal);
    std::ranges::for_each(captured.items, set_goal);
  }
  const auto devices = choose_devices(request, items, options.ranks != nullptr);
  if (!request.from.empty()) {
    // What the databases of other ranks have is not known here.
    items = options.ranks != nullptr
                ? items_of(captured.items)
                : items_to_tune(captured.items, devices, *options.tuning.database);
  }
  if (options.ranks == nullptr) tell_of_absent_devices(items, devices);
  const interruption watched;
  pretune_report report(shared.json);
  options.force = request.force;
  options.stop = interruption::has_come;
  options.listener = &report;
  const auto results = pretune(request.program(), items, devices, options);
  if (options.ranks != nullptr && options.ranks->is_left_out()) {
    print(stderr,
          "tunedb: rank {} did not answer for too long, and the other ranks go on without it\n",
          options.ranks->rank());
    return done;
  }
  const bool leads = report.has_begun();
  if (leads) print_summary(results, shared.json);
  if (leads) tell_of_other_inputs(captured.items, results, *options.tuning.database);
  // mpirun ends all ranks as soon as one exits with a code other than 0.
  return leads || interruption::has_come() ? code_for(results) : done;
}

// The application, and the choice of its keys.
void add_selection(CLI::App* command, const std::shared_ptr<pretune_request>& request) {
  command
      ->add_option("--app", request->application,
                   "The application, as a path. Not needed with --from for frames of built-in "
                   "operations")
      ->type_name("FILE");
  command->add_option("ARGUMENTS", request->arguments, "What to start it with, after --");
  command
      ->add_option("--function", request->function,
                   "Only keys of this function: a name, or NAME__VERSION")
      ->type_name("NAME");
  auto* file = command->add_option(
      "--keys", request->keys_file,
      "A file of keys in JSON, a list or one on each line, each {\"function\": NAME, \"version\": "
      "N, "
      "\"key\": {FIELD: VALUE}}; without a version the highest. Also what missed --json prints; - "
      "is standard input");
  file->type_name("FILE");
  auto* missed = command->add_flag("--missed", request->missed,
                                   "The keys that missed lists, for the devices that are here");
  auto* key = command->add_option("--arg", request->key,
                                  "A field of the one key of --function, as NAME=VALUE");
  key->type_name("NAME=VALUE")->allow_extra_args(false);
  auto* from = command->add_option(
      "--from", request->from,
      "The keys of the operations in captured frames, a file or a folder of files. Configurations "
      "are also checked with the captured contents, and timed with these alone, by the number of "
      "frames that each stands for. A result with other inputs is replaced");
  from->type_name("PATH");
  file->excludes(missed)->excludes(key)->excludes(from);
  missed->excludes(key)->excludes(from);
  key->excludes(from);
}

// The devices, and the searches on them.
void add_search(CLI::App* command, const std::shared_ptr<pretune_request>& request) {
  request->device.add_to(*command);
  command->add_flag("--all-devices", request->all_devices,
                    "Tunes for all devices that fit, by all of their platforms");
  command
      ->add_option(
          "--strategy", request->strategy,
          "The strategy of the searches, as LIBTUNE_STRATEGY takes it; the application has "
          "to know it")
      ->type_name("NAME");
  command
      ->add_option("--budget", request->budget,
                   "What each search may cost, as LIBTUNE_BUDGET takes it: '30 s, 200 trials'")
      ->type_name("LIMITS");
  command
      ->add_option("--memory", request->memory,
                   "The device memory that each tuning may hold, as LIBTUNE_TUNING_MEMORY takes "
                   "it: '2 GiB', '10 %'")
      ->type_name("BYTES");
  command
      ->add_option(
          "--objective", request->goal,
          "What to minimise or maximise, as LIBTUNE_OBJECTIVE takes it: 'max gflops, power "
          "<= 100'; else what the author of each function says")
      ->type_name("GOAL");
}

}  // namespace

exit_code pretune_captured(const invocation& shared, const std::string& from,
                           const std::string& application,
                           const std::vector<std::string>& arguments) {
  pretune_request request;
  request.from = from;
  request.application = application;
  request.arguments = arguments;
  return run(shared, request);
}

void add_pretune(CLI::App& program, invocation& shared) {
  const auto request = std::make_shared<pretune_request>();
  CLI::App* command = program.add_subcommand(
      "pretune",
      "Tunes keys of an application ahead, and stores the results: for all devices of this machine "
      "at "
      "once that applications choose among, GPUs where there are any, and each by the first "
      "platform that has it. The application, whose main begins with serve_if_worker, is started "
      "as a worker. "
      "Keys that have a result are left alone, and what was interrupted goes on. Under mpirun the "
      "devices of all ranks share the keys");
  add_selection(command, request);
  add_search(command, request);
  command->add_flag("--force", request->force,
                    "Also keys that have a result, without using earlier trials");
  command->add_flag("--mpi", request->mpi,
                    "Shares the keys with the other ranks of mpirun. Without it that is so where "
                    "Open MPI's mpirun has started the program");
  command->add_flag("--list", request->list,
                    "Only lists the functions of the application, and the fields of their keys");
  command->callback([&shared, request] { shared.result = run(shared, *request); });
}

}  // namespace tune::cli
