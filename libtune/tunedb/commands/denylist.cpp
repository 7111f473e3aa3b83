// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "libtune/extra/maintenance/database_reader.hpp"
#include "libtune/extra/maintenance/prune.hpp"
#include "libtune/tune/engine/prior_trials.hpp"
#include "libtune/tunedb/commands/commands.hpp"
#include "libtune/tunedb/output.hpp"
#include "libtune/tunedb/selection.hpp"

namespace tune::cli {
namespace {

struct denylist_options {
  std::string function;
  std::vector<std::string> arguments;
  device_choice device;
  bool clear = false;
};

/// A configuration with its incidents: the latest one, the time of the first, and their number.
struct entry {
  stored_incident latest;
  std::string first_at;
  std::size_t incidents = 0;

  bool is_denied() const { return incidents >= incidents_to_deny; }
};

bool is_same(const stored_incident& a, const stored_incident& b) {
  const auto counts_for = [](const stored_incident& item) {
    return std::tuple(table_name(item.function), item.arguments_canonical, item.device_canonical,
                      item.search.compiler, item.search.library_version, item.search.stage,
                      canonical_text(item.trial.configuration));
  };
  return counts_for(a) == counts_for(b);
}

std::vector<entry> entries_of(const std::vector<stored_incident>& incidents) {
  std::vector<entry> entries;
  for (const stored_incident& incident : incidents) {
    auto place = std::ranges::find_if(
        entries, [&](const entry& item) { return is_same(item.latest, incident); });
    if (place == entries.end()) {
      place =
          entries.insert(entries.end(), entry{.latest = {}, .first_at = incident.trial.made_at});
    }
    place->latest = incident;
    ++place->incidents;
  }
  return entries;
}

incident_choice choice_of(const invocation& shared, const denylist_options& given) {
  std::optional<std::string> key;
  if (!given.arguments.empty()) {
    if (given.function.empty()) throw usage_error("--arg is a field of the key of --function");
    database_reader database(shared.database_path());
    const function_identity function = find_function(database, given.function);
    key = text_of(search_columns(parse_key(function, given.arguments), {}), "arguments_canonical");
  }
  return [key, given](const stored_incident& incident) {
    if (!is_incident(incident.trial) || !given.device.fits(incident.device)) return false;
    if (key && incident.arguments_canonical != *key) return false;
    if (given.function.empty()) return true;
    const auto [name, version] = split_function(given.function);
    return incident.function.name == name && (!version || incident.function.version == *version);
  };
}

json to_json(const entry& item) {
  const stored_incident& latest = item.latest;
  return {{"function", latest.function.name},
          {"version", latest.function.version},
          {"arguments", latest.arguments},
          {"device", plain_json(latest.device)},
          {"compiler", latest.search.compiler},
          {"library_version", latest.search.library_version},
          {"configuration", plain_json(latest.trial.configuration)},
          {"outcome", latest.trial.outcome},
          {"reason", latest.trial.message},
          {"incidents", item.incidents},
          {"denied", item.is_denied()},
          {"first_at", item.first_at},
          {"last_at", latest.trial.made_at}};
}

void run(const invocation& shared, const denylist_options& given) {
  const std::string path = shared.database_path();
  const incident_choice which = choice_of(shared, given);
  if (given.clear) {
    const std::size_t cleared = forget_incidents(path, incident_outcomes(), which);
    if (shared.json) return print_json({{"cleared", cleared}});
    print("cleared {} incidents\n", cleared);
    return;
  }
  json all = json::array();
  for (const entry& item : entries_of(list_incidents(path, incident_outcomes(), which))) {
    all.push_back(to_json(item));
  }
  print_rows(shared.json, {{"entries", all}}, all,
             {{"FUNCTION", nullptr, function_text},
              {"KEY", "arguments"},
              {"DEVICE", "device"},
              {"CONFIGURATION", "configuration"},
              {"INCIDENTS", "incidents"},
              {"LAST AT", "last_at"},
              {"DENIED", "denied"},
              {"REASON", nullptr, outcome_text}});
}

}  // namespace

void add_denylist(CLI::App& program, invocation& shared) {
  const auto given = std::make_shared<denylist_options>();
  CLI::App* command = program.add_subcommand(
      "denylist",
      "The configurations that took their process or the device's context with them: the reason, "
      "how many incidents, when. After two incidents a configuration is denied: no search runs it, "
      "except one with LIBTUNE_MODE=force, once. Each counts for one key, version, driver, "
      "compiler "
      "and libtune");
  command->add_option("--function", given->function, "Of this function: a name, or NAME__VERSION")
      ->type_name("NAME");
  command
      ->add_option("--arg", given->arguments,
                   "A field of the key, as NAME=VALUE; all of them or none")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  given->device.add_to(*command);
  command->add_flag("--clear", given->clear,
                    "Forgets them, instead of listing them: they are tried again");
  command->callback([&shared, given] { run(shared, *given); });
}

}  // namespace tune::cli
