// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/tuning_layers.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/store/database/database_failure.hpp"
#include "libtune/store/database/identity_column.hpp"

namespace tune {
namespace {

// Includes the fields, so that after a change of key or tuning the database checks them again.
std::string text_of(const function_identity& function, const std::vector<named_value>& arguments) {
  std::string text = table_name(function) + '\n' + canonical_text(arguments) + '\n';
  for (const field_description& field : function.value_fields) {
    text += field.name;
    text += field.optional ? '?' : ' ';
    text += value_type_name(field.type);
    text += '\n';
  }
  return text;
}

std::string text_of(const std::string& scope, const device_identity& device) {
  return scope + '\n' + canonical_text(device);
}

}  // namespace

record_memory& record_memory::shared() {
  static detail::never_destroyed<record_memory> memory;
  return *memory;
}

std::optional<record> record_memory::find(const std::string& scope,
                                          const function_identity& function,
                                          const record_key& key) const {
  const std::string outer = text_of(function, key.arguments);
  const std::string inner = text_of(scope, key.device);
  const std::lock_guard lock(mutex_);
  const auto known = finds_.find(outer);
  if (known == finds_.end()) return std::nullopt;
  const auto found = known->second.find(inner);
  return found == known->second.end() ? std::nullopt : std::optional<record>(found->second);
}

std::uint64_t record_memory::generation() const {
  const std::lock_guard lock(mutex_);
  return generation_;
}

void record_memory::remember(const std::string& scope, const function_identity& function,
                             const record_key& key, const record& found, std::uint64_t generation) {
  const std::string outer = text_of(function, key.arguments);
  const std::string inner = text_of(scope, key.device);
  const std::lock_guard lock(mutex_);
  if (generation != generation_) return;
  if (finds_.size() >= most_ && !finds_.contains(outer)) finds_.clear();
  finds_[outer].insert_or_assign(inner, found);
}

void record_memory::forget(const function_identity& function,
                           const std::vector<named_value>& arguments) {
  const std::string outer = text_of(function, arguments);
  const std::lock_guard lock(mutex_);
  finds_.erase(outer);
  ++generation_;
}

void record_memory::forget_all() {
  const std::lock_guard lock(mutex_);
  finds_.clear();
  ++generation_;
}

namespace {

// A remembered nearest match must not answer an exact lookup.
std::string nearest_scope(const std::string& scope) { return "nearest\n" + scope; }

// A result that could not be stored is replaced by one that another process has stored since.
std::string unstored_scope(const std::string& scope) { return "unstored\n" + scope; }

template <class Use>
void warn_on_failure(Use use) {
  try {
    use();
  } catch (const database_error& failure) {
    detail::warn_of_failure(failure);
  }
}

}  // namespace

tuning_layers::tuning_layers(std::shared_ptr<tuning_database> user,
                             std::vector<std::shared_ptr<tuning_database>> systems)
    : user_(std::move(user)) {
  if (user_) databases_.push_back(user_);
  std::ranges::move(systems, std::back_inserter(databases_));
  for (const auto& database : databases_) scope_ += database->path() + '\n';
}

std::optional<record> tuning_layers::find(const function_identity& function, const record_key& key,
                                          std::optional<std::chrono::milliseconds> wait) const {
  record_memory& memory = record_memory::shared();
  std::optional<record> found = memory.find(scope_, function, key);
  if (found) return found;
  const std::uint64_t generation = memory.generation();
  std::optional<database_busy_error> busy;
  for (const auto& database : databases_) {
    warn_on_failure([&] {
      try {
        found = wait ? database->find_patiently(function, key, match_mode::exact, wait)
                     : database->find(function, key);
      } catch (const database_busy_error& failure) {
        busy = failure;
      }
    });
    if (!found) continue;
    if (busy) return found;  // the result of an upper database counts in the next call
    record kept = *found;
    kept.remembered = true;
    memory.remember(scope_, function, key, kept, generation);
    return found;
  }
  found = memory.find(unstored_scope(scope_), function, key);
  if (!found && busy) throw database_busy_error(*busy);
  return found;
}

void tuning_layers::remember(const function_identity& function, const record_key& key,
                             const std::vector<named_value>& values) const {
  record_memory& memory = record_memory::shared();
  memory.remember(unstored_scope(scope_), function, key,
                  {.values = values, .device = key.device, .score_ns = std::nullopt},
                  memory.generation());
}

std::vector<record> tuning_layers::find_nearest(const function_identity& function,
                                                const record_key& key, std::size_t most,
                                                nearest_kind kind) const {
  std::vector<record> all;
  for (const auto& database : databases_) {
    warn_on_failure([&] {
      std::ranges::move(database->find_nearest(function, key, most, kind), std::back_inserter(all));
    });
  }
  std::vector<device_identity> devices;
  for (const record& one : all) devices.push_back(one.device);
  std::vector<record> ranked;
  for (const nearest_match& match : rank_nearest(devices, key.device)) {
    if (ranked.size() == most) break;
    // Lower databases add nothing for the same device.
    if (!ranked.empty() && ranked.back().device == devices[match.index]) continue;
    ranked.push_back(std::move(all[match.index]));
  }
  return ranked;
}

std::vector<similar_result> tuning_layers::similar(const function_identity& function,
                                                   const similar_query& query) const {
  std::vector<similar_result> all;
  for (const auto& database : databases_) {
    warn_on_failure([&] {
      for (similar_result& one : database->similar(function, query)) {
        const bool is_known = std::ranges::any_of(all, [&](const similar_result& known) {
          return known.device == one.device && known.arguments == one.arguments;
        });
        if (!is_known) all.push_back(std::move(one));
      }
    });
  }
  std::ranges::stable_sort(all, {}, &similar_result::distance);
  if (all.size() > query.most) all.resize(query.most);
  return all;
}

std::optional<record> tuning_layers::chosen_nearest(const function_identity& function,
                                                    const record_key& key) const {
  return record_memory::shared().find(nearest_scope(scope_), function, key);
}

void tuning_layers::choose_nearest(const function_identity& function, const record_key& key,
                                   const record& chosen, std::uint64_t generation) const {
  record_memory::shared().remember(nearest_scope(scope_), function, key, chosen, generation);
}

std::optional<result_origin> tuning_layers::origin(const function_identity& function,
                                                   const std::vector<named_value>& arguments,
                                                   const record& found) const {
  std::optional<result_origin> read;
  for (const auto& database : databases_) {
    if (database->path() != found.database) continue;
    warn_on_failure([&] {
      read = database->origin(function, {arguments, found.device}, found.values);
    });
    break;
  }
  return read;
}

std::vector<stored_trial> tuning_layers::trials(const function_identity& function,
                                                const std::vector<named_value>& arguments,
                                                const record& found) const {
  std::vector<stored_trial> read;
  for (const auto& database : databases_) {
    if (database->path() != found.database) continue;
    warn_on_failure([&] { read = database->trials(function, {arguments, found.device}); });
    break;
  }
  return read;
}

void drop_copies(std::vector<stored_trial>& trials, const std::vector<stored_trial>& originals) {
  for (const stored_trial& original : originals) {
    const auto copy = std::ranges::find_if(trials, [&](const stored_trial& each) {
      return each.made_at == original.made_at && each == original;
    });
    if (copy != trials.end()) trials.erase(copy);
  }
}

std::vector<stored_trial> tuning_layers::lower_incidents(const function_identity& function,
                                                         const record_key& key,
                                                         const prior_query& query) const {
  const prior_query incidents_alone{.search = query.search,
                                    .incident_outcomes = query.incident_outcomes};
  std::vector<stored_trial> all;
  for (const auto& database : databases_) {
    if (database == user_) continue;
    warn_on_failure([&] {
      std::vector<stored_trial> found = database->prior(function, key, incidents_alone).incidents;
      drop_copies(found, all);
      std::ranges::move(found, std::back_inserter(all));
    });
  }
  return all;
}

}  // namespace tune
