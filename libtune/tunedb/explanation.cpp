// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tunedb/explanation.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/store/database/identity_column.hpp"
#include "libtune/store/database/tuning_database.hpp"

namespace tune::cli {
namespace {

constexpr database_waits patience{.read = std::chrono::seconds(10)};
// The number that tuning_layers ranks.
constexpr std::size_t most_of_a_layer = 16;

/// The results of all layers, the upper ones first.
std::vector<record> collect(std::vector<layer>& layers, const function_identity& function,
                            const record_key& key) {
  std::vector<record> all;
  for (layer& one : layers) {
    if (!one.can_be_used()) continue;
    try {
      tuning_database database(one.path, patience, one.access);
      std::ranges::move(database.find_nearest(function, key, most_of_a_layer),
                        std::back_inserter(all));
    } catch (const database_error& failure) {
      one.fault = failure.what();
    }
  }
  return all;
}

std::vector<candidate> rank(std::vector<record> all, const record_key& key) {
  std::vector<device_identity> devices;
  for (const record& one : all) devices.push_back(one.device);
  std::vector<candidate> ranked;
  // Equal devices keep the order of the layers.
  for (const nearest_match& match : rank_nearest(devices, key.device)) {
    ranked.push_back({.result = std::move(all[match.index]), .lost = {}});
  }
  return ranked;
}

bool is_exact(const candidate& one) { return one.result.grade == match_grade::exact; }

/// True if the user's database has a search ended by its budget.
bool has_stopped_search(const std::vector<layer>& layers, const function_identity& function,
                        const record_key& key) {
  if (layers.empty() || layers.front().system || !layers.front().can_be_used()) return false;
  try {
    tuning_database database(layers.front().path, patience, layers.front().access);
    const auto last = database.latest_search_result(function, key);
    return last && last->finished_at && can_be_continued(last->result);
  } catch (const database_error&) {
    return false;  // tunedb check reports it
  }
}

/// Returns the reason why a result ranks behind the first one, which is used.
std::string behind(const record& one, const record& first) {
  if (one.device == first.device) return "a database above has a result of the same device";
  if (first.grade == match_grade::exact) return "an exact match comes first";
  if (one.step != first.step) {
    return fmt::format("its device is farther: {}, not {}", match_step_name(one.step),
                       match_step_name(first.step));
  }
  return "as near; the device that is more alike comes first, then the newer driver";
}

void tell_why_lost(lookup_explanation& lookup, const tuning_settings& settings) {
  for (candidate& one : lookup.candidates) {
    const candidate& first = lookup.candidates.front();
    if (settings.mode == tuning_mode::force) {
      one.lost = "LIBTUNE_MODE=force uses no result";
    } else if (lookup.step == lookup_step::tune && is_exact(first)) {
      one.lost = "LIBTUNE_MODE=resume goes on with the search that its budget ended";
    } else if (!is_exact(first) && settings.match == match_mode::exact &&
               settings.mode != tuning_mode::behind) {
      one.lost = "LIBTUNE_MATCH=exact takes no result of another device";
    } else if (&one != &first) {
      one.lost = behind(one.result, first.result);
    }
  }
}

/// Runs read(database) on the database of a result; an error counts as no result.
template <class Read>
void read_from(const std::vector<layer>& layers, const record& result, Read read) {
  for (const layer& one : layers) {
    if (one.path != result.database) continue;
    try {
      tuning_database database(one.path, patience, one.access);
      read(database);
    } catch (const database_error&) {
      // tunedb check reports it.
    }
    return;
  }
}

}  // namespace

const candidate* lookup_explanation::answer() const noexcept {
  return candidates.empty() || !candidates.front().lost.empty() ? nullptr : &candidates.front();
}

std::string lookup_explanation::text(const tuning_settings& settings) const {
  const std::string mode = tuning_mode_name(settings.mode);
  switch (step) {
    case lookup_step::use: return "it is used as it is";
    case lookup_step::check_first:
      if (settings.mode == tuning_mode::behind) {
        return "it is used if it is in the space and declares what it needs, else the test "
               "default; "
               "the function is tuned while the program runs, LIBTUNE_MODE=behind";
      }
      return "it is used if it is in the space and runs on the device, else the next; it is not "
             "stored";
    case lookup_step::verify:
      return "it is measured on the device with the next nearest, its best other trials and the "
             "test default, and the best of them is stored";
    case lookup_step::tune:
      if (settings.mode == tuning_mode::force) {
        return "the function is tuned anew, LIBTUNE_MODE=force";
      }
      return candidates.empty() || !is_exact(candidates.front())
                 ? "the function is tuned"
                 : "the search that its budget ended goes on, LIBTUNE_MODE=" + mode;
    case lookup_step::fail: return "not_tuned_error is thrown, LIBTUNE_MODE=" + mode;
    case lookup_step::test_default:
      if (settings.mode == tuning_mode::behind) {
        return "the test default is used, and the function is tuned while the program runs, "
               "LIBTUNE_MODE=behind";
      }
      break;
  }
  return "the test default is used, LIBTUNE_MODE=" + mode;
}

lookup_explanation explain_lookup(std::vector<layer>& layers, const tuning_settings& settings,
                                  const function_identity& function, const record_key& key) {
  lookup_explanation lookup;
  lookup.candidates = rank(collect(layers, function, key), key);
  const lookup_plan plan(settings.mode, settings.match);
  const bool exact = !lookup.candidates.empty() && is_exact(lookup.candidates.front());
  lookup.step = plan.step({.exact = exact,
                           .nearest = !exact && !lookup.candidates.empty(),
                           .stopped = plan.resumes() && has_stopped_search(layers, function, key)});
  tell_why_lost(lookup, settings);
  return lookup;
}

std::optional<result_origin> origin_of(const std::vector<layer>& layers,
                                       const function_identity& function, const record_key& key,
                                       const record& result) {
  std::optional<result_origin> origin;
  read_from(layers, result, [&](tuning_database& database) {
    origin = database.origin(function, {key.arguments, result.device}, result.values);
  });
  return origin;
}

std::vector<stored_trial> trials_behind(const std::vector<layer>& layers,
                                        const function_identity& function, const record_key& key,
                                        const record& result) {
  std::vector<stored_trial> trials;
  read_from(layers, result, [&](tuning_database& database) {
    trials = database.trials(function, {key.arguments, result.device});
  });
  return trials;
}

result_confidence::result_confidence(const std::vector<stored_trial>& search, const record& result)
    : trials(search.size()) {
  std::vector<double> others;
  std::optional<double> mine;
  for (const stored_trial& trial : search) {
    if (!trial.score_ns) continue;
    if (trial.message.starts_with(taken_back_mark)) taken_back.push_back(trial);
    ++measured;
    if (trial.configuration != result.values) {
      others.push_back(*trial.score_ns);
      continue;
    }
    mine = trial.score_ns;
    beside_application = find_metric(trial.metrics, measured_behind) != nullptr;
    if (trial.samples_ns.empty()) continue;
    const auto [low, high] = std::ranges::minmax(trial.samples_ns);
    noise = (high - low) / 2 / low;
  }
  if (!mine) return;
  constexpr double as_good_as = 1.05;
  const auto slower = [&](double other) { return other > *mine * as_good_as; };
  as_good = 1 + others.size() - static_cast<std::size_t>(std::ranges::count_if(others, slower));
  was_fastest = std::ranges::none_of(others, [&](double other) { return other < *mine; });
  if (!others.empty()) gap = std::ranges::min(others) / *mine - 1;
}

std::string result_confidence::reason() const {
  if (trials == 0) return "no trials are kept of it: it was imported, or stored without a search";
  return fmt::format("{} of {} configurations could be measured, and {}", measured, trials,
                     was_fastest          ? "it was the fastest"
                     : taken_back.empty() ? "it is what was stored"
                                          : "what was found was no better in service");
}

std::string result_confidence::classification() const {
  if (!gap || !noise) return "unknown";
  return *gap > *noise ? "clear" : "close";
}

std::string result_confidence::classification_text() const {
  if (!gap || !noise) return "there is nothing to compare it with";
  return fmt::format(
      "the next one is {:.1f} % slower, its samples vary by {:.1f} %, and {} configurations are "
      "within 5 %",
      100 * *gap, 100 * *noise, as_good);
}

}  // namespace tune::cli
