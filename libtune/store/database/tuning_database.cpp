// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/tuning_database.hpp"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <string>
#include <utility>

#include "libtune/store/database/column.hpp"
#include "libtune/store/database/connection.hpp"
#include "libtune/store/database/database_session.hpp"
#include "libtune/store/database/function_table.hpp"
#include "libtune/store/database/identity_column.hpp"
#include "libtune/store/database/peak_table.hpp"
#include "libtune/store/database/prior_rows.hpp"
#include "libtune/store/database/search_notes.hpp"
#include "libtune/store/database/trial_log.hpp"
#include "libtune/store/database/tuning_layers.hpp"

namespace tune::detail {
namespace {

// Similar results require reading all results of a device, and only give starting points.
constexpr std::chrono::milliseconds longest_look_at_results{1000};

// The latest results of each device: enough for a fleet of keys.
constexpr std::size_t most_of_device = 4096;

/// True if the best of a search is the best of its space.
bool went_over_all(const stored_search& search, const stored_course& course,
                   const std::optional<stored_seeds>& seeds) {
  if (!search.finished_at || search.result != "found") return false;
  if (seeds) return seeds->is_whole;
  // For searches from before seeds were stored.
  const bool is_guided = course.strategy == "near" || course.strategy == "shortlist";
  return !course.strategy.empty() && !is_guided && course.ending != "target";
}

void read_search_of(connection& source, const function_identity& function,
                    const similar_query& query, similar_result& result) {
  const auto search =
      read_search_result(source, function, {result.arguments, result.device}, query.stage);
  if (!search) return;
  const stored_course course = read_course(source, search->id);
  result.is_whole = went_over_all(*search, course, read_seeds(source, search->id));
  result.trials = read_scores(source, search->id, query.most_trials);
  const auto configurations = read_configurations(source, search->id);
  result.has_all = configurations && result.trials.size() >= *configurations;
}

std::vector<similar_result> read_similar(connection& source, function_table& table,
                                         const similar_query& query) {
  const work_limit limit(source, longest_look_at_results);
  std::vector<similar_result> found;
  for (const device_identity& device : table.devices()) {
    const auto distance = is_prior(device) ? std::nullopt : query.device_distance(device);
    if (!distance) continue;
    for (other_result& other : table.results_of(device, most_of_device)) {
      const double whole = *distance + query.key_distance(other.arguments);
      found.push_back({.arguments = std::move(other.arguments),
                       .device = device,
                       .values = std::move(other.values),
                       .distance = whole});
    }
  }
  std::ranges::stable_sort(found, {}, &similar_result::distance);
  if (found.size() > query.most) found.resize(query.most);
  if (query.most_trials == 0) return found;
  for (similar_result& result : found) {
    read_search_of(source, table.function(), query, result);
  }
  return found;
}

}  // namespace
}  // namespace tune::detail

namespace tune {
namespace {

using detail::connection;
using detail::function_table;

std::vector<record> nearest_records(function_table& table, const record_key& key, std::size_t most,
                                    nearest_kind kind = nearest_kind::results) {
  std::vector<device_identity> devices = table.devices(key.arguments);
  std::erase_if(devices, [&](const device_identity& device) {
    return is_prior(device) != (kind == nearest_kind::priors);
  });
  std::vector<record> records;
  for (nearest_match& match : rank_nearest(devices, key.device)) {
    if (records.size() == most) break;
    std::optional<record> found = table.find(key.arguments, devices[match.index]);
    if (!found) continue;
    if (match.step != match_step::exact) found->grade = match_grade::nearest;
    found->step = match.step;
    found->relaxed = std::move(match.relaxed);
    records.push_back(*std::move(found));
  }
  return records;
}

std::optional<record> find_record(function_table& table, const record_key& key, match_mode mode) {
  std::optional<record> found = table.find(key.arguments, key.device);
  if (found || mode == match_mode::exact) return found;
  std::vector<record> nearest = nearest_records(table, key, 1);
  if (nearest.empty()) return std::nullopt;
  return std::move(nearest.front());
}

void check_request(const function_identity& function, const record_key& key) {
  static_cast<void>(table_name(function));  // for its checks, before any file is opened
  detail::check_key(function.key_fields, key.arguments, function.name);
}

void check_result(const function_identity& function, const record_key& key,
                  const std::vector<named_value>& values, std::optional<double> score_ns) {
  check_request(function, key);
  detail::check_fields(function.value_fields, values, function.name);
  if (score_ns) detail::check_score(*score_ns);
  check_field_names(function);
}

void check_trial(const stored_trial& trial) {
  if (trial.score_ns) detail::check_score(*trial.score_ns);
  for (const double sample : trial.samples_ns) detail::check_score(sample);
}

}  // namespace

class tuning_database::implementation : public detail::database_session {
 public:
  using database_session::database_session;
};

tuning_database::tuning_database(const std::string& path, database_waits waits,
                                 database_access access)
    : impl_(std::make_unique<implementation>(path, waits, access)) {}

tuning_database::~tuning_database() = default;
tuning_database::tuning_database(tuning_database&&) noexcept = default;
tuning_database& tuning_database::operator=(tuning_database&&) noexcept = default;

const std::string& tuning_database::path() const noexcept { return impl_->path(); }

std::optional<record> tuning_database::find(const function_identity& function,
                                            const record_key& key, match_mode mode) {
  check_request(function, key);
  std::optional<record> found;
  impl_->read_table(function,
                    [&](function_table& table) { found = find_record(table, key, mode); });
  return found;
}

std::vector<record> tuning_database::find_nearest(const function_identity& function,
                                                  const record_key& key, std::size_t most,
                                                  nearest_kind kind) {
  check_request(function, key);
  std::vector<record> found;
  impl_->read_table(
      function, [&](function_table& table) { found = nearest_records(table, key, most, kind); },
      impl_->waits().write);
  return found;
}

std::vector<similar_result> tuning_database::similar(const function_identity& function,
                                                     const similar_query& query) {
  static_cast<void>(table_name(function));  // for its checks, before any file is opened
  return impl_->read_searches(function, [&](connection& source, function_table& table) {
    return detail::read_similar(source, table, query);
  });
}

std::optional<record> tuning_database::find_patiently(
    const function_identity& function, const record_key& key, match_mode mode,
    std::optional<std::chrono::milliseconds> wait) {
  check_request(function, key);
  std::optional<record> found;
  impl_->read_table(
      function, [&](function_table& table) { found = find_record(table, key, mode); },
      wait.value_or(impl_->waits().write));
  return found;
}

void tuning_database::store(const function_identity& function, const record_key& key,
                            const std::vector<named_value>& values,
                            std::optional<double> score_ns) {
  check_result(function, key, values, score_ns);
  impl_->attempt_to_write("store the result of", function.name, [&] {
    impl_->write_to_table(
        function, [&](connection&, function_table& table) { table.store(key, values, score_ns); });
  });
  record_memory::shared().forget(function, key.arguments);
}

record tuning_database::store_first(const function_identity& function, const record_key& key,
                                    const std::vector<named_value>& values,
                                    std::optional<double> score_ns) {
  check_result(function, key, values, score_ns);
  record kept{
      .values = values, .device = key.device, .score_ns = score_ns, .database = impl_->path()};
  impl_->attempt_to_write("store the result of", function.name, [&] {
    impl_->write_to_table(function, [&](connection&, function_table& table) {
      if (auto first = table.find(key.arguments, key.device)) {
        kept = *std::move(first);
      } else {
        table.store(key, values, score_ns);
      }
    });
  });
  record_memory::shared().forget(function, key.arguments);
  return kept;
}

void tuning_database::require_writable() {
  try {
    impl_->attempt_to_write("store", "results", [&] { impl_->try_to_write(); });
  } catch (const database_busy_error&) {  // it may be free when there is a result
  }
}

search_id tuning_database::begin_search(const function_identity& function, const record_key& key,
                                        const search_identity& identity,
                                        const std::string& strategy) {
  check_request(function, key);
  check_field_names(function);
  search_id search{};
  impl_->attempt_to_write("store a search of", function.name, [&] {
    impl_->write_to_table(function, [&](connection& target, function_table&) {
      search = detail::insert_search(target, function, key, identity);
      if (!strategy.empty()) detail::note_course(target, search, {.strategy = strategy});
    });
  });
  return search;
}

void tuning_database::add_trial(search_id search, const stored_trial& trial) {
  check_trial(trial);
  impl_->attempt_to_write("store the trial", to_string(trial.configuration), [&] {
    impl_->write_to_search(
        search, [&](connection& target) { detail::insert_trial(target, search, trial); });
  });
}

void tuning_database::add_trials(search_id search, std::span<const stored_trial> trials,
                                 std::span<const stored_trial> replacing) {
  for (const stored_trial& trial : trials) check_trial(trial);
  for (const stored_trial& trial : replacing) check_trial(trial);
  const std::size_t count = trials.size() + replacing.size();
  impl_->attempt_to_write("store so many trials:", std::to_string(count), [&] {
    impl_->write_to_search(search, [&](connection& target) {
      for (const stored_trial& trial : trials) detail::insert_trial(target, search, trial);
      for (const stored_trial& trial : replacing) detail::replace_trial(target, search, trial);
    });
  });
}

void tuning_database::finish_search(search_id search, const std::string& result,
                                    const stored_course& course) {
  impl_->attempt_to_write("store the end of a search, with the result", result, [&] {
    impl_->write_to_search(search, [&](connection& target) {
      detail::end_search(target, search, result);
      if (!course.strategy.empty()) detail::note_course(target, search, course);
      if (course.space) detail::note_space(target, search, *course.space);
      if (course.seeds) detail::note_seeds(target, search, *course.seeds);
    });
  });
}

prior_rows tuning_database::prior(const function_identity& function, const record_key& key,
                                  const prior_query& query) {
  check_request(function, key);
  return impl_->read_searches(function, [&](connection& source, function_table& table) {
    return detail::read_prior_rows(source, table, key, query);
  });
}

std::optional<stored_search> tuning_database::unfinished_search(const function_identity& function,
                                                                const record_key& key, int stage) {
  return prior(function, key, {.search = {.stage = stage}, .unfinished = true}).unfinished;
}

std::optional<stored_search> tuning_database::latest_search(const function_identity& function,
                                                            const record_key& key) {
  check_request(function, key);
  return impl_->read_searches(function, [&](connection& source, function_table&) {
    return detail::read_latest_search(source, function, key);
  });
}

std::optional<stored_search> tuning_database::latest_search_result(
    const function_identity& function, const record_key& key,
    std::optional<std::chrono::milliseconds> wait) {
  check_request(function, key);
  const auto read = [&](connection& source, function_table&) {
    return detail::read_search_result(source, function, key);
  };
  return impl_->read_searches(function, read, wait);
}

std::optional<result_origin> tuning_database::origin(const function_identity& function,
                                                     const record_key& key,
                                                     const std::vector<named_value>& values) {
  check_request(function, key);
  return impl_->read_searches(function, [&](connection& source, function_table&) {
    return detail::read_origin(source, function, key, values);
  });
}

std::optional<double> tuning_database::find_peak(const peak_identity& of) {
  std::optional<double> found;
  impl_->read("look up the peak of", of.kind,
              [&](connection& source) { found = detail::read_peak(source, of); });
  return found;
}

void tuning_database::store_peak(const peak_identity& of, double rate) {
  if (!std::isfinite(rate) || rate <= 0) {
    throw argument_error("the peak of " + of.kind + " is " + std::to_string(rate) +
                         " in a second, which no device has; nothing was stored");
  }
  impl_->attempt_to_write("store the peak of", of.kind, [&] {
    impl_->write([&](connection& target) { detail::note_peak(target, of, rate); });
  });
}

std::vector<stored_trial> tuning_database::trials(const function_identity& function,
                                                  const record_key& key) {
  std::optional<stored_search> search = latest_search(function, key);
  return search ? std::move(search->trials) : std::vector<stored_trial>();
}

}  // namespace tune
