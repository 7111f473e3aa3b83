// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
// The commands that import results: import, merge and import-katsdpsigproc.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <ctime>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fstream>
#include <memory>

#include "libtune/extra/formats/katsdpsigproc.hpp"
#include "libtune/extra/formats/kernel_tuner_cache.hpp"
#include "libtune/extra/formats/t1.hpp"
#include "libtune/extra/formats/t4.hpp"
#include "libtune/extra/maintenance/database_reader.hpp"
#include "libtune/extra/maintenance/json_document.hpp"
#include "libtune/extra/maintenance/merge.hpp"
#include "libtune/extra/simulate/unpacked_file.hpp"
#include "libtune/store/database/record.hpp"
#include "libtune/tune/goal.hpp"
#include "libtune/tunedb/commands/commands.hpp"
#include "libtune/tunedb/katsdpsigproc_operations.hpp"
#include "libtune/tunedb/output.hpp"
#include "libtune/tunedb/selection.hpp"

namespace tune::cli {
namespace {

/// Adds the numbers of another merge, and its new reasons.
void add_up(merge_report& sum, const merge_report& other) {
  sum.results_added += other.results_added;
  sum.results_replaced += other.results_replaced;
  sum.results_kept += other.results_kept;
  sum.searches_added += other.searches_added;
  sum.searches_known += other.searches_known;
  sum.left += other.left;
  for (const std::string& reason : other.reasons) add_reason(sum.reasons, reason);
}

json to_json(const merge_report& report) {
  return {{"results_added", report.results_added},
          {"results_replaced", report.results_replaced},
          {"results_kept", report.results_kept},
          {"searches_added", report.searches_added},
          {"searches_known", report.searches_known},
          {"left", report.left},
          {"reasons", report.reasons}};
}

/// Prints the report. @returns part_left if something was skipped
exit_code print_report(const merge_report& report, bool as_json) {
  const exit_code code = report.reasons.empty() ? done : part_left;
  if (as_json) {
    print_json(to_json(report));
    return code;
  }
  print("results: {} added, {} replaced by better ones, {} kept; searches: {} added, {} known\n",
        report.results_added, report.results_replaced, report.results_kept, report.searches_added,
        report.searches_known);
  if (report.left > 0) print("left: {} results and searches\n", report.left);
  for (const std::string& reason : report.reasons) print("  because {}\n", reason);
  return code;
}

struct import_options {
  std::string file;
  std::string format;
  std::string function;
  std::vector<std::string> arguments;
  std::vector<std::string> types;
  std::vector<std::string> names;
  std::string objective;
  device_choice device;
  bool same_kernel = false;
};

bool is_sqlite_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string start(15, '\0');
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  return path != "-" && start == "SQLite format 3";
}

std::string now() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

/// The subject of a file of Kernel Tuner, from the options.
/// @param device  the name in the file, for a call without --device
foreign_subject subject_from(const std::string& path, const import_options& options,
                             const std::string& device) {
  if (options.function.empty()) {
    throw usage_error("the file does not say what it is of: name the function with --function");
  }
  device_choice on = options.device;
  if (on.name.empty()) on.name = device;
  if (on.name.empty()) {
    throw usage_error(
        "the file does not name the device that it was made on: name it with "
        "--device, as tunedb list prints it");
  }
  foreign_subject subject{.types = parse_types(options.types),
                          .device = on.identity(),
                          .same_kernel = options.same_kernel,
                          .date = now()};
  if (!options.objective.empty()) {
    subject.goal = goal_from_text(options.objective);
    if (!subject.goal) {
      throw usage_error("'" + options.objective + "' is no goal such as 'max gflop_s'");
    }
  }
  for (const std::string& text : options.names) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) throw usage_error("'" + text + "' is no FIELD=PARAMETER");
    subject.names[text.substr(equals + 1)] = text.substr(0, equals);
  }
  const auto [name, version] = split_function(options.function);
  database_reader database(path);
  const auto known = find_function_if(database, options.function);
  if (known) subject.function = *known;
  for (const translation_target& target : registered_targets()) {
    const function_identity& here = target.function;
    if (here.name != name || (version && here.version != *version)) continue;
    if (known && here != *known) continue;
    subject.function = here;
    subject.defaults = target.test_default;
  }
  if (subject.function.name.empty()) {
    subject.function = {.name = name,
                        .version = version.value_or(0),
                        .key_fields = inferred_key_fields(options.arguments, subject.types)};
  }
  subject.arguments = parse_key(subject.function, options.arguments);
  return subject;
}

/// The format of a text, by the names of --format. @throws usage_error for other known kinds
std::string format_of(const std::string& file, const std::string& text) {
  if (is_kernel_tuner_cache(text)) return "kernel-tuner";
  if (is_t1(text)) {
    throw usage_error("'" + file + "' is a tuning problem in T1, without results: tunedb tune '" +
                      file + "' tunes it");
  }
  if (text.find("\"ComputationResults\"") != std::string::npos) {
    throw usage_error("'" + file +
                      "' is KTT's own output; its script ConvertJsonOutput.py makes T4 of it");
  }
  return text.find("\"invalidity\"") != std::string::npos ? "t4" : "json";
}

/// The results of a file, and a phrase for its kind.
struct read_file_content {
  database_content content;
  std::string kind;
};

read_file_content read_as(const std::string& format, const std::string& path,
                          const std::string& text, const import_options& options) {
  if (format == "json") return {from_json_document(text), "an export of libtune"};
  if (format == "kernel-tuner") {
    const kernel_tuner_cache cache = read_kernel_tuner_cache(text);
    const foreign_subject subject = subject_from(path, options, cache.device_name);
    return {{.functions = {content_of(cache, subject)}}, "a cache file of Kernel Tuner"};
  }
  if (is_own_t4(text)) return {{.functions = {from_own_t4_text(text)}}, "T4 of libtune"};
  return {{.functions = {from_t4_text(text, subject_from(path, options, {}))}}, "T4"};
}

read_file_content read_content(const std::string& path, const import_options& options) {
  std::string text = read_file(options.file);
  if (text.starts_with("\x1f\x8b")) {
    if (options.file == "-") throw error("the input is compressed: gunzip -c | tunedb import -");
    constexpr std::size_t most_bytes = std::size_t{1} << 32;
    text = detail::read_unpacked(options.file, most_bytes);
  }
  const std::string format =
      options.format.empty() ? format_of(options.file, text) : options.format;
  try {
    return read_as(format, path, text, options);
  } catch (const argument_error& fault) {
    throw argument_error("'" + options.file + "': " + fault.what());
  }
}

/// Prints the kind of a file, and its number of trials.
void print_kind(const std::string& file, const read_file_content& read) {
  std::size_t trials = 0;
  std::size_t measured = 0;
  for (const function_content& one : read.content.functions) {
    for (const search_content& search : one.searches) {
      trials += search.trials.size();
      measured += static_cast<std::size_t>(
          std::ranges::count_if(search.trials, [](const trial_content& trial) {
            return tune::text_of(trial.columns, "outcome") == "measured";
          }));
    }
  }
  print("'{}' is {}: {} trials, {} of them measured\n", file, read.kind, trials, measured);
}

/// Prints the priors of an import.
void print_taken(const database_content& content) {
  for (const function_content& one : content.functions) {
    for (const result_content& result : one.results) {
      if (!is_prior(result.device())) continue;
      print("{} ({}) on {}: a prior, which a search tries first and no lookup returns\n",
            one.function.name, fields_text(result.values), to_text(result.device()));
    }
  }
}

exit_code merge_files(const invocation& shared, const std::vector<std::string>& files) {
  // All are read before anything is written, so that an invalid one changes nothing.
  std::vector<database_content> contents;
  merge_report sum;
  for (const std::string& file : files) {
    database_reader database(file, database_access::read_only);
    if (!database.has_tables()) throw nothing_found("there is no database '" + file + "'");
    contents.push_back(database.read_all());
    if (database.damaged() == 0) continue;
    sum.left += database.damaged();
    sum.reasons.push_back(fmt::format("{} rows of '{}' are damaged; see tunedb --db {} check",
                                      database.damaged(), file, file));
  }
  for (const database_content& content : contents) {
    add_up(sum, merge_content(shared.database_path(), content));
  }
  return print_report(sum, shared.json);
}

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
  options.known = database_reader(database).identities();
  options.translations = operation_translations();
  options.targets = registered_targets();
  options.types = parse_types(given.types);
  options.date = now();
  return options;
}

json to_json(const taken_table& table) {
  return {{"table", table.table}, {"function", table.function}, {"version", table.version},
          {"rows", table.rows},   {"taken", table.taken},       {"prior", table.prior},
          {"left", table.left}};
}

void print_text(const std::vector<taken_table>& tables) {
  for (const taken_table& table : tables) {
    print("{}: {} of {} rows taken", table.table, table.taken, table.rows);
    if (!table.function.empty()) {
      print(", as {}{} version {}", table.prior ? "priors of " : "", table.function, table.version);
    }
    print("\n");
    for (const std::string& reason : table.left) print("  left: {}\n", reason);
  }
}

exit_code import_tables(const invocation& shared, const katsdpsigproc_arguments& given) {
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
    document.update(to_json(report));
    print_json(document);
  } else {
    print_text(taken.tables);
    print_report(report, false);
  }
  return complete ? done : part_left;
}

exit_code import_text(const invocation& shared, const import_options& options) {
  const std::string path = shared.database_path();
  const read_file_content read = read_content(path, options);
  const merge_report report = merge_content(path, read.content);
  const bool is_taken = report.results_added + report.results_replaced > 0;
  if (!shared.json) print_kind(options.file, read);
  if (!shared.json && !options.function.empty() && is_taken) print_taken(read.content);
  return print_report(report, shared.json);
}

/// A file of SQLite is a database of libtune, else of katsdpsigproc.
exit_code import_file(const invocation& shared, const import_options& options) {
  if (!options.format.empty() || !is_sqlite_file(options.file)) return import_text(shared, options);
  if (database_reader(options.file, database_access::read_only).has_tables()) {
    if (!shared.json) print("'{}' is a database of libtune\n", options.file);
    return merge_files(shared, {options.file});
  }
  if (!shared.json) print("'{}' is a database of katsdpsigproc\n", options.file);
  return import_tables(shared, {.file = options.file, .names = {}, .types = options.types});
}

}  // namespace

void add_import(CLI::App& program, invocation& shared) {
  const auto options = std::make_shared<import_options>();
  CLI::App* command = program.add_subcommand(
      "import",
      "Takes the results of a file, whose kind its contents tell: what export has written, a cache "
      "file of Kernel Tuner, T4, a database of libtune or of katsdpsigproc. The best configuration "
      "of "
      "another tuner becomes a prior of the function, which a search tries first and no lookup "
      "returns");
  command->add_option("FILE", options->file, "The file; - is standard input")->required();
  command
      ->add_option("--format", options->format,
                   "json of export, t4, or a cache file of Kernel Tuner; without it, the file's "
                   "contents tell")
      ->check(CLI::IsMember({"json", "t4", "kernel-tuner"}));
  command
      ->add_option("--function", options->function,
                   "The function that a file of Kernel Tuner is for: NAME, or NAME__VERSION")
      ->type_name("NAME");
  command
      ->add_option(
          "--objective", options->objective,
          "What the file was tuned for, as 'max score' or 'min energy'; without it, what the "
          "file says")
      ->type_name("GOAL");
  command->add_flag("--same-kernel", options->same_kernel,
                    "The file was made with the kernel of this function, so that its fastest "
                    "configuration is a result");
  command
      ->add_option("--field", options->names,
                   "A field of the tuning that has another name in the file, as FIELD=PARAMETER")
      ->type_name("FIELD=PARAMETER")
      ->allow_extra_args(false);
  command->add_option("--arg", options->arguments, "A field of its key, as NAME=VALUE")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  command
      ->add_option("--type", options->types,
                   "The type of a field of a function that the database does not know, such as "
                   "rows=int64, or label=string? if it may be empty. Without it the values show it")
      ->type_name("FIELD=TYPE")
      ->allow_extra_args(false);
  options->device.add_to(*command);
  command->callback([&shared, options] { shared.result = import_file(shared, *options); });
}

void add_merge(CLI::App& program, invocation& shared) {
  const auto files = std::make_shared<std::vector<std::string>>();
  CLI::App* command = program.add_subcommand(
      "merge",
      "Brings other databases into this one. Of two results for one key the measured one stays, "
      "then the faster; neither the order nor a repetition matters");
  command->add_option("FILE", *files, "Other databases, which are only read")->required();
  command->callback([&shared, files] { shared.result = merge_files(shared, *files); });
}

void add_import_katsdpsigproc(CLI::App& program, invocation& shared) {
  const auto options = std::make_shared<katsdpsigproc_arguments>();
  CLI::App* command = program.add_subcommand(
      "import-katsdpsigproc",
      "Takes the results of a katsdpsigproc tuning.db, which is only read, and says of every table "
      "what was taken and what not. Those of its own operations become priors of the ones here, "
      "which "
      "a search tries first and no lookup returns. Types are those of the functions that the "
      "database knows "
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
  command->callback([&shared, options] { shared.result = import_tables(shared, *options); });
}

}  // namespace tune::cli
