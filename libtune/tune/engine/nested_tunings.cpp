// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/nested_tunings.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "libtune/base/never_destroyed.hpp"
#include "libtune/tune/error.hpp"

namespace tune::detail {
namespace {

struct running {
  const tuning_subject* subject;
  const step_listener* listener;
  const std::vector<std::shared_ptr<observer>>* observers;
};

/// The tunings of a thread and their results; deleted when the last tuning ends.
struct thread_state {
  std::vector<running> tunings;
  std::vector<std::string> scopes;
  std::map<std::string, std::vector<named_value>> made;
  std::vector<lost_inside> lost;

  bool is_inside() const { return !tunings.empty() || !scopes.empty(); }
};

// A plain pointer, because the main thread may tune after its other variables have been destroyed.
thread_local thread_state* here = nullptr;

thread_state& state() {
  if (here == nullptr) here = new thread_state;
  return *here;
}

void forget_if_outside() noexcept {
  if (!here->is_inside()) delete std::exchange(here, nullptr);
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

tuning_under_way::tuning_under_way(const tuning_subject& subject, const step_listener* listener,
                                   const std::vector<std::shared_ptr<observer>>* observers) {
  state().tunings.push_back(
      {&subject, listener != nullptr ? listener : current_listener(), observers});
}

tuning_under_way::~tuning_under_way() {
  state().tunings.pop_back();
  forget_if_outside();
}

bool is_under_way(const tuning_subject& subject) {
  if (here == nullptr) return false;
  return std::ranges::any_of(here->tunings, [&](const running& other) {
    return other.subject->function == subject.function &&
           other.subject->version == subject.version &&
           other.subject->arguments == subject.arguments &&
           other.subject->device.identity == subject.device.identity;
  });
}

const step_listener* current_listener() noexcept {
  return here == nullptr || here->tunings.empty() ? nullptr : here->tunings.back().listener;
}

std::vector<std::shared_ptr<observer>> current_observers() {
  std::vector<std::shared_ptr<observer>> found;
  if (here == nullptr) return found;
  for (const running& one : here->tunings) {
    if (one.observers == nullptr) continue;
    for (const auto& listener : *one.observers) {
      if (std::ranges::find(found, listener) == found.end()) found.push_back(listener);
    }
  }
  return found;
}

namespace {

thread_local const stop_scope* innermost_stop = nullptr;

}  // namespace

stop_scope::stop_scope(std::function<bool()> asked)
    : asked_(std::move(asked)), outer_(std::exchange(innermost_stop, this)) {}

stop_scope::~stop_scope() { innermost_stop = outer_; }

bool is_stopped() { return innermost_stop != nullptr && innermost_stop->is_stopped(); }

void require_not_stopped() {
  if (!is_stopped()) return;
  throw tuning_stopped_error(
      "the caller has ended the tuning before it had a result; a later one continues it if "
      "its trials are stored");
}

tuning_scope::tuning_scope(std::string name) { state().scopes.push_back(std::move(name)); }

tuning_scope::~tuning_scope() {
  state().scopes.pop_back();
  forget_if_outside();
}

std::vector<std::string> scopes() {
  return here == nullptr ? std::vector<std::string>() : here->scopes;
}

std::optional<std::vector<named_value>> made_inside(const std::string& name) {
  if (here == nullptr) return std::nullopt;
  const auto found = here->made.find(name);
  return found == here->made.end() ? std::nullopt : std::optional(found->second);
}

void keep_made(const std::string& name, const std::vector<named_value>& values, bool for_process) {
  if (for_process) {
    const std::lock_guard lock(process().mutex);
    process().tuned.insert(name);
  }
  if (here == nullptr || !here->is_inside()) return;
  here->made[name] = values;
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
  if (here != nullptr) {
    for (const auto& [name, values] : here->made) all.inside.push_back({name, values});
  }
  const std::lock_guard lock(process().mutex);
  all.in_process.assign(process().tuned.begin(), process().tuned.end());
  return all;
}

void inherit(outer_tunings outer) {
  thread_state& inherited = state();
  inherited.scopes = std::move(outer.scopes);
  inherited.made.clear();
  for (auto& item : outer.inside) inherited.made[item.name] = std::move(item.values);
  inherited.lost = std::move(outer.lost);
  const std::lock_guard lock(process().mutex);
  process().tuned.insert(outer.in_process.begin(), outer.in_process.end());
}

std::vector<stored_trial> lost_in(const std::string& name, const search_identity& search) {
  std::vector<stored_trial> found;
  if (here == nullptr) return found;
  for (const lost_inside& one : here->lost) {
    if (one.name == name && one.search == search) found.push_back(one.trial);
  }
  return found;
}

}  // namespace tune::detail
