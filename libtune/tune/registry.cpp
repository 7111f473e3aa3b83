// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/registry.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <string>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/forked_process.hpp"
#include "libtune/tune/autotuner_core.hpp"

namespace tune {

// Autotuners are static objects and deregister themselves late.
autotuner_registry& autotuner_registry::instance() {
  static detail::never_destroyed<autotuner_registry> registry;
  return *registry;
}

void autotuner_registry::add(const autotuner_core& added, check_function check) {
  const std::lock_guard lock(mutex_);
  autotuners_.push_back(&added);
  checks_[&added] = std::move(check);
}

void autotuner_registry::remove(const autotuner_core& removed) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase(autotuners_, &removed);
  checks_.erase(&removed);
}

// A static object is left where it was when it is destroyed, and so the shared pointer in it still
// leads to what it shared, if another keeps that.
void autotuner_registry::keep_all() noexcept {
  if (detail::is_forked()) return;
  const std::lock_guard lock(mutex_);
  try {
    for (const autotuner_core* each : autotuners_) kept_.push_back(each->weak_from_this().lock());
  } catch (const std::bad_alloc&) {
    return;
  }
}

void autotuner_registry::keep_at_exit() {
  static const int registered = std::atexit([] { instance().keep_all(); });
  static_cast<void>(registered);
}

std::vector<const autotuner_core*> autotuner_registry::all() const {
  const std::lock_guard lock(mutex_);
  return autotuners_;
}

void autotuner_registry::check(const function_identity& function,
                               const std::vector<named_value>& values) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [each, check] : checks_) {
    if (each->identity() == function) return check(values);
  }
  throw argument_error("there is no autotune function '" + function.name + "' of these fields");
}

void autotuner_registry::require_unique(const autotuner_core& one) const {
  const std::lock_guard lock(mutex_);
  const auto& wanted = one.identity();
  const bool shared =
      std::any_of(autotuners_.begin(), autotuners_.end(), [&](const autotuner_core* other) {
        return other != &one && other->identity().name == wanted.name &&
               other->identity().version == wanted.version;
      });
  if (shared) {
    throw argument_error("two autotune functions are named '" + wanted.name + "' with version " +
                         std::to_string(wanted.version) + "; rename one of them");
  }
}

}  // namespace tune
