// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <memory>

#include "libtune/exchange/exchange.hpp"
#include "libtune/exchange/t4.hpp"
#include "libtune/store/maintenance/database_reader.hpp"
#include "libtune/store/maintenance/merge.hpp"
#include "libtune/tunedb/commands.hpp"
#include "libtune/tunedb/files.hpp"
#include "libtune/tunedb/reports.hpp"
#include "libtune/tunedb/selection.hpp"

namespace tune::cli {
namespace {

struct import_options {
  std::string file;
  std::string format = "json";
  std::string function;
  std::vector<std::string> arguments;
  std::vector<std::string> types;
  device_choice device;
};

/// What a T4 file of other origin is of, as the options say.
t4_subject subject_from(const std::string& path, const import_options& options) {
  if (options.function.empty() || options.device.name.empty()) {
    throw usage_error("the file does not say what it is of: name --function and --device");
  }
  database_reader database(path);
  t4_subject subject{.types = parse_types(options.types)};
  if (const auto known = find_function_if(database, options.function)) {
    subject.function = *known;
  } else {
    const auto [name, version] = split_function(options.function);
    subject.function = {.name = name,
                        .version = version.value_or(0),
                        .key_fields = shown_key_fields(options.arguments, subject.types),
                        .value_fields = {}};
  }
  subject.arguments = parse_key(subject.function, options.arguments);
  subject.device = options.device.identity();
  return subject;
}

database_content read_content(const std::string& path, const import_options& options) {
  const std::string text = read_file(options.file);
  if (options.format == "json") return from_exchange_text(text);
  if (is_own_t4(text)) return {.functions = {from_own_t4_text(text)}};
  return {.functions = {from_t4_text(text, subject_from(path, options))}};
}

exit_code run(const invocation& shared, const import_options& options) {
  const std::string path = shared.database_path();
  return print_report(merge_content(path, read_content(path, options)), shared.json);
}

}  // namespace

void add_import(CLI::App& program, invocation& shared) {
  const auto options = std::make_shared<import_options>();
  CLI::App* command = program.add_subcommand(
      "import", "Merges a file that export has written, or results of Kernel Tuner");
  command->add_option("FILE", options->file, "The file; - is standard input")->required();
  command->add_option("--format", options->format, "json, the default, or t4")
      ->check(CLI::IsMember({"json", "t4"}));
  command
      ->add_option("--function", options->function,
                   "What a T4 file of Kernel Tuner is of: NAME, or NAME__VERSION")
      ->type_name("NAME");
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
  command->callback([&shared, options] { shared.result = run(shared, *options); });
}

}  // namespace tune::cli
