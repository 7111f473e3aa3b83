// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <vector>

#include "libtune/store/database/missed_keys.hpp"
#include "libtune/store/database/tuning_layers.hpp"
#include "libtune/tune/databases.hpp"
#include "libtune/tunedb/commands/commands.hpp"
#include "libtune/tunedb/key_list.hpp"
#include "libtune/tunedb/output.hpp"
#include "libtune/tunedb/selection.hpp"

namespace tune::cli {
namespace {

struct missed_options {
  std::string function;
  bool clear = false;
};

bool is_of(const std::string& function, const missed_key& missed) {
  if (function.empty()) return true;
  const auto [name, version] = split_function(function);
  return missed.function.name == name && (!version || missed.function.version == *version);
}

/// A key with a result is listed only because of sizes that its portfolio does not serve.
json to_json(const missed_key& missed) {
  json asked = json::array();
  for (const asked_count& each : missed.asked) {
    asked.push_back({{"sizes", each.sizes}, {"count", each.count}});
  }
  return {{"function", missed.function.name},
          {"version", missed.function.version},
          {"arguments", plain_json(missed.key.arguments)},
          {"device", plain_json(missed.key.device)},
          {"missed_at", missed.missed_at},
          {"program", missed.program},
          {"asked", std::move(asked)}};
}

/// The most requested sizes of a portfolio: "5000 x 64 (12 times), 3 more".
std::string asked_text(const json& row) {
  constexpr std::size_t shown = 3;
  std::string text;
  const json& asked = row["asked"];
  for (std::size_t i = 0; i < std::min(asked.size(), shown); ++i) {
    std::string sizes;
    for (const json& size : asked[i]["sizes"]) {
      sizes += (sizes.empty() ? "" : " x ") + size.dump();
    }
    text += fmt::format("{}{} ({} times)", text.empty() ? "" : ", ", sizes,
                        asked[i]["count"].get<std::uint64_t>());
  }
  if (asked.size() > shown) text += fmt::format(", {} more", asked.size() - shown);
  return text.empty() ? "-" : text;
}

void list(const invocation& shared, const tuning_settings& settings, const missed_options& given) {
  missed_keys::contents found = missed_keys(settings.missed).read();
  std::erase_if(found.keys,
                [&](const missed_key& missed) { return !is_of(given.function, missed); });
  const auto layers = open_layers(settings, database_access::read_only);
  const std::vector<missed_key> keys =
      still_missing(std::move(found.keys), *layers, lacks_asked_sizes);
  if (found.unreadable > 0) {
    print(stderr, "tunedb: {} lines of '{}' are not as libtune writes them\n", found.unreadable,
          settings.missed);
  }
  json all = json::array();
  for (const missed_key& missed : keys) all.push_back(to_json(missed));
  print_rows(shared.json, {{"path", settings.missed}, {"keys", all}}, all,
             {{"FUNCTION", nullptr, function_text},
              {"KEY", "arguments"},
              {"DEVICE", "device"},
              {"SIZES", nullptr, asked_text},
              {"MISSED AT", "missed_at"},
              {"PROGRAM", "program"}});
}

void clear(const invocation& shared, const tuning_settings& settings, const missed_options& given) {
  const std::size_t removed = missed_keys(settings.missed).remove([&](const missed_key& missed) {
    return is_of(given.function, missed);
  });
  if (shared.json) {
    print_json({{"path", settings.missed}, {"removed", removed}});
  } else {
    print("removed {} keys\n", removed);
  }
}

void run(const invocation& shared, const missed_options& given) {
  const tuning_settings settings = shared.settings();
  if (settings.missed.empty()) {
    throw nothing_found(
        "keys that miss are not noted here: LIBTUNE_MISSED is off, or there is "
        "nowhere to keep a database");
  }
  if (given.clear) return clear(shared, settings, given);
  list(shared, settings, given);
}

}  // namespace

void add_missed(CLI::App& program, invocation& shared) {
  const auto given = std::make_shared<missed_options>();
  CLI::App* command = program.add_subcommand(
      "missed",
      "The keys for which programs have found no result, and which still have no result, the "
      "latest last");
  command->add_option("--function", given->function, "Of this function: a name, or NAME__VERSION")
      ->type_name("NAME");
  command->add_flag("--clear", given->clear, "Forgets them, instead of listing them");
  command->callback([&shared, given] { run(shared, *given); });
}

}  // namespace tune::cli
