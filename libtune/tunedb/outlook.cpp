// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tunedb/outlook.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/word_table.hpp"
#include "libtune/store/database/nearest.hpp"
#include "libtune/store/database/tuning_database.hpp"

namespace tune::cli {
namespace {

constexpr database_waits patience{.read = std::chrono::seconds(10)};
// As many as tuning_layers ranks.
constexpr std::size_t most_of_a_layer = 16;

/// The results of all layers, those of the upper first.
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
  // Equal devices keep their order, which is that of the layers.
  for (const nearest_match& match : rank_nearest(devices, key.device)) {
    ranked.push_back({.result = std::move(all[match.index]), .lost = {}});
  }
  return ranked;
}

bool is_exact(const candidate& one) { return one.result.grade == match_grade::exact; }

next_step step_for(const std::vector<candidate>& candidates, const tuning_settings& settings) {
  if (settings.mode == tuning_mode::force) return next_step::tune;
  if (!candidates.empty() && is_exact(candidates.front())) return next_step::use;
  if (!candidates.empty() && settings.match != match_mode::exact) {
    const bool may_tune =
        settings.mode == tuning_mode::tune || settings.mode == tuning_mode::resume;
    const bool verifies = settings.match == match_mode::verify && may_tune;
    return verifies ? next_step::verify : next_step::check_first;
  }
  switch (settings.mode) {
    case tuning_mode::cached: return next_step::fail;
    case tuning_mode::defaults: return next_step::test_default;
    case tuning_mode::tune:
    case tuning_mode::resume:
    case tuning_mode::force: break;
  }
  return next_step::tune;
}

/// Why one lost against the first, when the first is used.
std::string behind(const record& one, const record& first) {
  if (one.device == first.device) return "a database above has a result of the same device";
  if (first.grade == match_grade::exact) return "an exact match comes first";
  if (one.step != first.step) {
    return fmt::format("its device is farther: {}, not {}", match_step_name(one.step),
                       match_step_name(first.step));
  }
  return "as near; the device that is more alike comes first, then the newer driver";
}

void tell_why_lost(outlook& ahead, const tuning_settings& settings) {
  for (candidate& one : ahead.candidates) {
    const candidate& first = ahead.candidates.front();
    if (settings.mode == tuning_mode::force) {
      one.lost = "LIBTUNE_MODE=force uses no result";
    } else if (!is_exact(first) && settings.match == match_mode::exact) {
      one.lost = "LIBTUNE_MATCH=exact takes no result of another device";
    } else if (&one != &first) {
      one.lost = behind(one.result, first.result);
    }
  }
}

/// Runs read(database) on the database of a result; what fails counts as not there.
template <class Read>
void read_from(const std::vector<layer>& layers, const record& result, Read read) {
  for (const layer& one : layers) {
    if (one.path != result.database) continue;
    try {
      tuning_database database(one.path, patience, one.access);
      read(database);
    } catch (const database_error&) {
      // tunedb check tells of it.
    }
    return;
  }
}

}  // namespace

const char* next_step_name(next_step step) noexcept {
  constexpr detail::word_table<next_step, 6> words{
      {"use", "check first", "verify", "tune", "fail", "test default"}};
  return words.word(step);
}

const candidate* outlook::answer() const noexcept {
  return candidates.empty() || !candidates.front().lost.empty() ? nullptr : &candidates.front();
}

std::string outlook::text(const tuning_settings& settings) const {
  const std::string mode = tuning_mode_name(settings.mode);
  switch (step) {
    case next_step::use: return "it is used as it is";
    case next_step::check_first:
      return "it is used if it is in the space and runs on the device, else the next; it is not "
             "stored";
    case next_step::verify:
      return "it is measured on the device with the next nearest, its best other trials and the "
             "test default, and the best of them is stored";
    case next_step::tune:
      return settings.mode == tuning_mode::force ? "the function is tuned anew, LIBTUNE_MODE=force"
                                                 : "the function is tuned";
    case next_step::fail: return "not_tuned_error is thrown, LIBTUNE_MODE=" + mode;
    case next_step::test_default: break;
  }
  return "the test default is used, LIBTUNE_MODE=" + mode;
}

outlook look_ahead(std::vector<layer>& layers, const tuning_settings& settings,
                   const function_identity& function, const record_key& key) {
  outlook ahead;
  ahead.candidates = rank(collect(layers, function, key), key);
  ahead.step = step_for(ahead.candidates, settings);
  tell_why_lost(ahead, settings);
  return ahead;
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

}  // namespace tune::cli
