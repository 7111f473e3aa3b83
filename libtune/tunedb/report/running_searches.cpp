// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tunedb/report/running_searches.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <fstream>
#include <map>
#include <string_view>
#include <utility>

#include "libtune/base/terminal_text.hpp"
#include "libtune/store/database/stored_trial.hpp"
#include "libtune/store/files/named_lock.hpp"
#include "libtune/tune/goal.hpp"
#include "libtune/tunedb/output.hpp"
#include "libtune/tunedb/report/report_data.hpp"
#include "libtune/tunedb/report/stored_numbers.hpp"

namespace tune::cli {
namespace {

// A search without a lock that has stored nothing for this long has been interrupted.
constexpr double silent_seconds = 30;

/// The length of a value at the start of a text in canonical_text; 0 without a value.
std::size_t value_length(std::string_view text) {
  if (text.empty()) return 0;
  if (text.front() != 's') return std::min(text.find(';'), text.size());
  std::size_t bytes = 0;
  const auto [stop, failure] = std::from_chars(text.data() + 1, text.data() + text.size(), bytes);
  const auto begin = static_cast<std::size_t>(stop - text.data()) + 1;
  if (failure != std::errc{} || begin > text.size() || bytes > text.size() - begin) return 0;
  return begin + bytes;
}

/// Parses "4:rows=i64;" at the start of a text: the name, and the total length.
std::optional<std::pair<std::string, std::size_t>> next_field(std::string_view text) {
  std::size_t bytes = 0;
  const auto [stop, failure] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  const auto name = static_cast<std::size_t>(stop - text.data()) + 1;
  if (failure != std::errc{} || name > text.size() || bytes >= text.size() - name) return {};
  const std::size_t begin = name + bytes + 1;
  const std::size_t length = value_length(text.substr(begin));
  if (length == 0 || begin + length >= text.size() || text[begin + length] != ';') return {};
  return std::pair(std::string(text.substr(name, bytes)), begin + length + 1);
}

/// The process that tunes the key of a search.
std::optional<lock_holder> process_of(const std::string& path, const function_identity& function,
                                      const search_content& search) {
  const auto key =
      canonical_key(function.key_fields, text_of(search.columns, "arguments_canonical"));
  if (!key) return std::nullopt;
  // The name has the form of tune::search_name.
  const std::string name = fmt::format("{}\n{}\n{}", table_name(function),
                                       text_of(search.columns, "device_canonical"), *key);
  const auto process = key_lock::find_holder(path, name);
  return process ? std::optional(look_at_holder(*process)) : std::nullopt;
}

std::string budget_of(const std::optional<lock_holder>& process) {
  if (!process || process->process <= 0) return {};
  std::ifstream environment(fmt::format("/proc/{}/environ", process->process));
  constexpr std::string_view name = "LIBTUNE_BUDGET=";
  for (std::string line; std::getline(environment, line, '\0');) {
    if (line.starts_with(name)) return line.substr(name.size());
  }
  return {};
}

std::string latest_of(const trials_summary& trials) {
  std::string latest;
  for (const outcome_summary& one : trials.outcomes) latest = std::max(latest, one.latest);
  return latest;
}

bool stores_trials(const running_search& search) {
  const std::string latest = latest_of(search.trials);
  const auto then = seconds_of(latest.empty() ? search.started_at : latest);
  const auto now = seconds_of(utc_now());
  return then && now && *now - *then <= silent_seconds;
}

/// The number of configurations in the space of a search, from another search of the space.
std::optional<std::size_t> configurations_of(database_reader& database,
                                             const function_identity& function,
                                             const search_content& search) {
  const std::string space = text_of(search.columns, "space");
  if (space.empty()) return std::nullopt;
  const std::vector<std::int64_t> others = database.find_searches(function, {.space = space});
  for (auto number = others.rbegin(); number != others.rend(); ++number) {
    const auto other = database.read_search(*number, false);
    if (!other) continue;
    const auto kept = detail::space_from_json(text_of(other->columns, "outline"));
    if (kept) return kept->configurations;
  }
  return std::nullopt;
}

bool has_ended(const search_content& search) {
  return !text_of(search.columns, "finished_at").empty();
}

std::string printable(const std::string& text) {
  return detail::terminal_text(text, detail::text_shape::cell);
}

std::string counts_text(const running_search& search) {
  std::size_t tried = 0;
  std::string others;
  std::size_t measured = 0;
  for (const outcome_summary& one : search.trials.outcomes) {
    tried += one.trials;
    if (one.outcome == outcome_name(outcome::measured)) {
      measured = one.trials;
    } else {
      others += fmt::format(", {} {}", one.trials, one.outcome);
    }
  }
  if (tried == 0) return "nothing tried yet";
  const std::string of = search.configurations ? fmt::format(" of {}", *search.configurations) : "";
  return fmt::format("{}{} tried: {} measured{}", tried, of, measured, others);
}

std::string place_text(const running_search& search) {
  if (!search.process) return "without a lock";
  return describe(*search.process) + (search.budget.empty() ? "" : ", budget " + search.budget);
}

}  // namespace

std::optional<std::string> canonical_key(const std::vector<field_description>& fields,
                                         const std::string& sorted) {
  std::map<std::string, std::string> parts;
  for (std::string_view rest = sorted; !rest.empty();) {
    const auto field = next_field(rest);
    if (!field) return std::nullopt;
    parts[field->first] = rest.substr(0, field->second);
    rest.remove_prefix(field->second);
  }
  if (parts.size() != fields.size()) return std::nullopt;
  std::string key;
  for (const field_description& field : fields) {
    const auto part = parts.find(field.name);
    if (part == parts.end()) return std::nullopt;
    key += part->second;
  }
  return key;
}

std::vector<running_search> find_running(database_reader& database, const std::string& path) {
  std::vector<running_search> running;
  for (const function_identity& function : database.identities()) {
    for (const std::int64_t number : database.find_open_searches(function)) {
      const auto search = database.read_search(number, false);
      if (!search) continue;  // removed meanwhile
      auto process = process_of(path, function, *search);
      if (!process && has_ended(*search)) continue;
      running_search one{.function = function,
                         .id = search->id,
                         .arguments = text_of(search->columns, "arguments"),
                         .device = {text_of(search->columns, "device_name"),
                                    text_of(search->columns, "device_platform"),
                                    text_of(search->columns, "device_version")},
                         .started_at = text_of(search->columns, "started_at"),
                         .strategy = text_of(search->columns, "strategy"),
                         .trials = database.summarise_trials(search->id),
                         .process = std::move(process)};
      if (!one.process && !stores_trials(one)) continue;
      one.budget = budget_of(one.process);
      one.configurations = configurations_of(database, function, *search);
      running.push_back(std::move(one));
    }
  }
  std::ranges::sort(running, {},
                    [](const running_search& one) { return std::pair(one.started_at, one.id); });
  return running;
}

std::string describe(const running_search& search, double now, bool two_lines) {
  const auto begun = seconds_of(search.started_at);
  const std::string elapsed = begun ? fmt::format("{:.0f} s", std::max(0.0, now - *begun)) : "?";
  const std::string best = search.trials.best_ns
                               ? fmt::format("least time {} ({})", time_text(search.trials.best_ns),
                                             fields_text(search.trials.best))
                               : "no time yet";
  const std::string goal = goal_text(search.function);
  return fmt::format(
      "{}{}{}; {}; {}",
      printable(fmt::format("{} version {} ({}) on {}", own_name(search.function.name),
                            search.function.version, search.arguments, to_text(search.device))),
      two_lines ? "\n  " : ": ",
      printable(fmt::format("{}, {}{}{}", elapsed, place_text(search),
                            search.strategy.empty() ? "" : ", strategy " + search.strategy,
                            goal == "min time" ? "" : ", goal " + goal)),
      printable(counts_text(search)), printable(best));
}

detail::json to_json(const running_search& search) {
  detail::json outcomes = detail::json::object();
  for (const outcome_summary& one : search.trials.outcomes) outcomes[one.outcome] = one.trials;
  return {
      {"function", search.function.name},
      {"version", search.function.version},
      {"search", search.id},
      {"arguments", search.arguments},
      {"device", detail::plain_json(search.device)},
      {"started_at", search.started_at},
      {"strategy", search.strategy},
      {"goal", goal_text(search.function)},
      {"process", search.process ? detail::json(search.process->process) : nullptr},
      {"program", search.process ? search.process->program : ""},
      {"budget", search.budget},
      {"configurations", search.configurations ? detail::json(*search.configurations) : nullptr},
      {"outcomes", std::move(outcomes)},
      {"best", detail::plain_json(search.trials.best)},
      {"best_ns", detail::number_or_null(search.trials.best_ns)},
      {"latest_at", latest_of(search.trials)}};
}

}  // namespace tune::cli
