// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/extra/ahead/pretuning.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/log.hpp"
#include "libtune/base/word_table.hpp"
#include "libtune/child/remote_tuning.hpp"
#include "libtune/console/report_follower.hpp"
#include "libtune/extra/ahead/fleet.hpp"
#include "libtune/extra/ahead/group_work.hpp"
#include "libtune/extra/shared/shared_results.hpp"
#include "libtune/store/database/identity_column.hpp"
#include "libtune/tune/databases.hpp"
#include "libtune/tune/settings.hpp"

namespace tune {
namespace {

/// The jobs: for each the index of its item and of its group.
struct job_list {
  std::vector<std::size_t> items;
  std::vector<std::vector<std::size_t>> of_group;
};

job_list list_jobs(std::span<const pretuning_item> items, std::span<const device_group> groups) {
  job_list jobs{.items = {}, .of_group = std::vector<std::vector<std::size_t>>(groups.size())};
  for (std::size_t item = 0; item < items.size(); ++item) {
    for (std::size_t group = 0; group < groups.size(); ++group) {
      const auto& wanted = items[item].device;
      if (wanted && *wanted != groups[group].info().identity) continue;
      jobs.of_group[group].push_back(jobs.items.size());
      jobs.items.push_back(item);
    }
  }
  return jobs;
}

// Nested calls of autotuners store their results in the same database.
tuning_options resolve(const tuning_settings& settings) {
  tuning_options resolved = settings.search;
  resolved.database = settings.database;
  resolved.system_databases = settings.system_databases;
  resolved.shared_store = settings.shared_store;
  resolved.push_results = settings.push_results;
  resolved.match = settings.match;
  resolved.mode = tuning_mode::tune;
  return resolved;
}

/// A program's answers about the names in tunings. Other values are checked with their type when
/// they are read. Thread-safe.
class known_tunings {
 public:
  std::string refuse(const tuner_program& program, const function_identity& function,
                     const std::vector<named_value>& values) {
    const bool has_names = std::ranges::any_of(function.value_fields, [](const auto& field) {
      return field.type == value_type::enumeration || field.type == value_type::element_type;
    });
    if (!has_names) return {};
    const std::lock_guard lock(mutex_);
    const auto [place, is_new] =
        reasons_.try_emplace(table_name(function) + '\n' + canonical_text(values));
    if (!is_new) return place->second;
    try {
      place->second = why_no_tuning(program, function, values);
    } catch (const tuner_unavailable_error& failure) {
      log(log_level::debug, failure.what());  // tuning itself reports this loudly
    }
    return place->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::string> reasons_;
};

}  // namespace

std::string_view pretuning_state_name(pretuning_state state) noexcept {
  constexpr detail::word_table<pretuning_state, 4> words{{"tuned", "present", "failed", "stopped"}};
  return words.word(state);
}

std::size_t count_pretunings(std::span<const pretuning_item> items,
                             std::span<const device> devices) {
  return list_jobs(items, group_devices(devices)).items.size();
}

std::vector<pretuning_result> pretune(const tuner_program& program,
                                      std::span<const pretuning_item> items,
                                      std::span<const device> devices,
                                      const pretuning_options& options) {
  const auto tune = [&](const remote_task& task) { return tune_remotely(program, task); };
  const auto known = std::make_shared<known_tunings>();
  const auto refuses = [&program, known](const function_identity& function,
                                         const std::vector<named_value>& values) {
    return known->refuse(program, function, values);
  };
  return options.ranks == nullptr
             ? pretune_with(tune, items, devices, options, refuses)
             : pretune_with_ranks(*options.ranks, tune, items, devices, options, refuses);
}

std::vector<pretuning_result> pretune_with(const remote_tuner& tune,
                                           std::span<const pretuning_item> items,
                                           std::span<const device> devices,
                                           const pretuning_options& options,
                                           const tuning_refusal& refuses,
                                           const device_loss& is_lost) {
  tuning_options given = options.tuning;
  given.given_by = option_source::command;
  const tuning_settings settings = resolve_settings(given);
  if (settings.database.empty()) {
    throw argument_error("there is no place for the results; name a database");
  }
  if (!settings.lock.empty()) {
    throw argument_error("LIBTUNE_LOCK names '" + settings.lock +
                         "', whose results alone are used: nothing is tuned as long as it is set");
  }
  const auto layers = open_layers(settings);
  layers->user()->require_writable();
  const std::vector<device_group> groups = group_devices(devices);
  const job_list jobs = list_jobs(items, groups);
  const tuning_options search_options = resolve(settings);
  for (const pretuning_item& item : items) detail::follow_in_report(settings, item.function);
  std::mutex telling;
  std::vector<pretuning_result> results(jobs.items.size());
  const pretuning_setting setting{.tune = tune,
                                  .items = items,
                                  .options = options,
                                  .search_options = search_options,
                                  .layers = layers,
                                  .shared = shared_results::of(settings),
                                  .searches = std::min(devices.size(), jobs.items.size()),
                                  .refuses = refuses,
                                  .is_lost = is_lost,
                                  .telling = telling,
                                  .results = results};
  if (options.listener != nullptr) options.listener->planned(results.size());
  {
    std::vector<std::unique_ptr<group_work>> at_work;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      at_work.push_back(
          std::make_unique<group_work>(setting, groups[i], jobs.of_group[i], jobs.items));
    }
  }
  return results;
}

}  // namespace tune
