// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/nested_tunings.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <utility>

#include "libtune/base/never_destroyed.hpp"
#include "libtune/tune/engine/tuning_scopes.hpp"

namespace tune::detail {
namespace {

/// The results of the tunings inside the outermost one of a thread.
struct results_inside final : kept_in_tuning {
  std::map<std::string, std::vector<named_value>> made;
  std::vector<lost_inside> lost;
};

/// Null without results.
results_inside* results_here() noexcept {
  const auto* const place = place_in_tuning();
  return place == nullptr ? nullptr : static_cast<results_inside*>(place->get());
}

struct process_state {
  std::mutex mutex;
  std::set<std::string> tuned;
};

process_state& process() {
  static never_destroyed<process_state> all;
  return *all;
}

}  // namespace

std::optional<std::vector<named_value>> made_inside(const std::string& name) {
  const results_inside* const all = results_here();
  if (all == nullptr) return std::nullopt;
  const auto found = all->made.find(name);
  return found == all->made.end() ? std::nullopt : std::optional(found->second);
}

void keep_made(const std::string& name, const std::vector<named_value>& values, bool for_process) {
  if (for_process) {
    const std::lock_guard lock(process().mutex);
    process().tuned.insert(name);
  }
  if (!is_inside_tuning()) return;
  if (results_here() == nullptr) *place_in_tuning() = std::make_unique<results_inside>();
  results_here()->made[name] = values;
  if (const auto* listener = current_listener()) {
    (*listener)(inner_result{name, values, for_process});
  }
}

bool is_tuned_in_process(const std::string& name) {
  const std::lock_guard lock(process().mutex);
  return process().tuned.contains(name);
}

outer_tunings surroundings() {
  outer_tunings all{.scopes = scopes()};
  if (const results_inside* const found = results_here()) {
    for (const auto& [name, values] : found->made) all.inside.push_back({name, values});
  }
  const std::lock_guard lock(process().mutex);
  all.in_process.assign(process().tuned.begin(), process().tuned.end());
  return all;
}

void inherit(outer_tunings outer) {
  auto inherited = std::make_unique<results_inside>();
  for (auto& item : outer.inside) inherited->made[item.name] = std::move(item.values);
  inherited->lost = std::move(outer.lost);
  inherit_scopes(std::move(outer.scopes)) = std::move(inherited);
  const std::lock_guard lock(process().mutex);
  process().tuned.insert(outer.in_process.begin(), outer.in_process.end());
}

std::vector<stored_trial> lost_in(const std::string& name, const search_identity& search) {
  std::vector<stored_trial> found;
  const results_inside* const all = results_here();
  if (all == nullptr) return found;
  for (const lost_inside& one : all->lost) {
    if (one.name == name && one.search == search) found.push_back(one.trial);
  }
  return found;
}

}  // namespace tune::detail
