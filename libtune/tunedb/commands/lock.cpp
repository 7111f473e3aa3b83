// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "libtune/extra/maintenance/database_reader.hpp"
#include "libtune/store/database/tuning_lock.hpp"
#include "libtune/tunedb/commands/commands.hpp"
#include "libtune/tunedb/key_list.hpp"
#include "libtune/tunedb/locked_results.hpp"
#include "libtune/tunedb/output.hpp"
#include "libtune/tunedb/selection.hpp"

namespace tune::cli {
namespace {

struct lock_options {
  std::string file;
  std::vector<std::string> functions;
  std::string keys_file;
  device_choice device;
  bool force = false;
};

/// The keys of a list; each must have a result.
std::vector<pretuning_item> wanted_keys(const std::string& path, const lock_options& options) {
  if (options.keys_file.empty()) return {};
  database_reader database(path, database_access::read_only);
  if (!database.has_tables()) throw nothing_found("there is no database '" + path + "'");
  return parse_key_list(read_file(options.keys_file), database.identities(), options.keys_file);
}

bool is_of(const function_identity& function, const std::vector<std::string>& names) {
  return names.empty() || std::ranges::any_of(names, [&](const std::string& text) {
           const auto [name, version] = split_function(text);
           return function.name == name && (!version || function.version == *version);
         });
}

std::string key_text(const function_identity& function, const std::vector<named_value>& key) {
  return table_name(function) + '\n' + canonical_text(key);
}

void require_all(const tuning_lock& lock, const std::vector<pretuning_item>& keys) {
  std::set<std::string> locked;
  for (const locked_function& one : lock.functions()) {
    for (const locked_result& result : one.results) {
      locked.insert(key_text(one.function, result.arguments));
    }
  }
  std::string missing;
  for (const pretuning_item& item : keys) {
    if (locked.contains(key_text(item.function, item.key))) continue;
    missing += fmt::format("\n  {} version {}: {}", item.function.name, item.function.version,
                           fields_text(item.key));
  }
  if (missing.empty()) return;
  throw nothing_found("nothing is written, because these keys have no result:" + missing);
}

void run(const invocation& shared, const lock_options& options) {
  const std::string path = shared.database_path();
  const std::vector<pretuning_item> keys = wanted_keys(path, options);
  std::set<std::string> listed;
  for (const pretuning_item& item : keys) listed.insert(key_text(item.function, item.key));
  const tuning_lock lock = lock_of_database(path, [&](const auto& function, const auto& result) {
    const bool is_listed =
        options.keys_file.empty() || listed.contains(key_text(function, result.arguments));
    return is_listed && is_of(function, options.functions) && options.device.fits(result.device());
  });
  require_all(lock, keys);
  if (lock.size() == 0) throw nothing_found("'" + path + "' has no such results");
  const std::string target = export_target(options.file, path, false, options.force);
  write_file(target, lock.to_json());
  if (target == "-") return;
  std::set<std::string> devices;
  std::size_t known = 0;
  for (const locked_function& one : lock.functions()) {
    for (const locked_result& result : one.results) {
      devices.insert(to_text(result.device));
      known += result.programs.empty() ? 0 : 1;
    }
  }
  if (shared.json) {
    print_json({{"path", target},
                {"functions", lock.functions().size()},
                {"results", lock.size()},
                {"with_programs", known},
                {"devices", devices}});
  } else {
    print(
        "locked {} results of {} functions for {} devices in '{}'; of {} the programs are "
        "known\n",
        lock.size(), lock.functions().size(), devices.size(), target, known);
  }
}

}  // namespace

void add_lock(CLI::App& program, invocation& shared) {
  const auto options = std::make_shared<lock_options>();
  CLI::App* command = program.add_subcommand(
      "lock",
      "Writes which results a release uses: keys, configurations, devices, and digests of the "
      "programs that were measured. A program with LIBTUNE_LOCK=FILE uses exactly these, or fails. "
      "Equal results make equal files, for reviews");
  command->add_option("FILE", options->file, "The file; - is standard output")->required();
  command
      ->add_option("--function", options->functions,
                   "Only of these functions: names, or NAME__VERSION")
      ->type_name("NAME");
  command
      ->add_option(
          "--keys", options->keys_file,
          "Only these keys, as pretune takes them; nothing is written if one has no result")
      ->type_name("FILE");
  options->device.add_to(*command);
  command->add_flag("--force", options->force, "Replaces any file, not only an earlier export");
  command->callback([&shared, options] { run(shared, *options); });
}

}  // namespace tune::cli
