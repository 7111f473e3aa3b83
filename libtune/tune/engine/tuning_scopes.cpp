// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/engine/tuning_scopes.hpp"

#include <algorithm>
#include <utility>

#include "libtune/tune/error.hpp"

namespace tune::detail {
namespace {

struct running {
  const tuning_subject* subject;
  const step_listener* listener;
  const std::vector<std::shared_ptr<observer>>* observers;
};

/// The tunings of a thread; deleted when the last tuning ends.
struct thread_state {
  std::vector<running> tunings;
  std::vector<std::string> scopes;
  std::unique_ptr<kept_in_tuning> kept;

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

bool is_inside_tuning() noexcept { return here != nullptr && here->is_inside(); }

std::unique_ptr<kept_in_tuning>* place_in_tuning() noexcept {
  return here == nullptr ? nullptr : &here->kept;
}

std::unique_ptr<kept_in_tuning>& inherit_scopes(std::vector<std::string> names) {
  state().scopes = std::move(names);
  here->kept.reset();
  return here->kept;
}

}  // namespace tune::detail
