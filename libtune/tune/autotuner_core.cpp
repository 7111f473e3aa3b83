// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/autotuner_core.hpp"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <new>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/forked_process.hpp"
#include "libtune/base/log.hpp"
#include "libtune/base/seal.hpp"
#include "libtune/tune/test_mode.hpp"
#include "libtune/tune/tuning_call.hpp"

namespace tune {

autotuner_core::autotuner_core(function_identity identity, values test_default, function tunes,
                               check_function check, tuning_goal goal, bool repeatable)
    : identity_(std::move(identity)),
      test_default_(std::move(test_default)),
      tunes_(std::move(tunes)),
      check_(std::move(check)),
      goal_(std::move(goal)),
      repeatable_(repeatable) {
  check_function_names(identity_);
  if (own_name(identity_.name) != identity_.name) {
    throw argument_error("'" + identity_.name +
                         "' cannot name an autotune function: '..' stands between a name and the "
                         "goal of its results; choose another name");
  }
  if (!goal_.is_time()) {
    static_cast<void>(detail::name_with_goal(identity_.name, goal_));  // throws if it is invalid
  }
  autotuner_registry::instance().add(*this);
}

// In a forked process a thread of the parent may hold the lock for ever.
autotuner_core::~autotuner_core() {
  if (!detail::is_forked()) autotuner_registry::instance().remove(*this);
}

void autotuner_core::prepare(const tune::context& context, const values& key) const {
  const auto what = [&] {
    return fmt::format("obtain the tuning of '{}' for {} on device '{}'", identity_.name,
                       key.empty() ? "its only key" : to_string(key), context.device().name());
  };
  detail::refuse_if_forked(what);
  detail::check_seal(sealed_action::tune, what);
  if (detail::current_test_mode() == detail::test_mode::defaults) return;
  autotuner_registry::instance().keep_at_exit();
  autotuner_registry::instance().require_unique(*this);
}

detail::graded_values autotuner_core::graded(const tune::context& context, const values& key,
                                             const tuning_options& options) const {
  prepare(context, key);
  const detail::test_mode testing = detail::current_test_mode();
  if (testing == detail::test_mode::defaults) return {test_default_, lookup_grade::miss};
  tuning_call call(*this, context, key, options);
  if (testing == detail::test_mode::forced) return {call.tune_for_test()};
  return call.answer();
}

std::vector<autotuner_core::values> autotuner_core::finalists(const tune::context& context,
                                                              const values& key, std::size_t most,
                                                              const tuning_options& options) const {
  if (most == 0) {
    throw argument_error("no finalists of '" + identity_.name + "' were asked for; ask for one");
  }
  if (detail::current_test_mode() != detail::test_mode::off) return {obtain(context, key, options)};
  prepare(context, key);
  return tuning_call(*this, context, key, options).finalists(most);
}

detail::autotuner_parts::~autotuner_parts() = default;

std::shared_ptr<const autotuner_core> detail::make_autotuner(autotuner_parts parts) {
  return std::make_shared<const autotuner_core>(
      function_identity{std::move(parts.name), parts.version, std::move(parts.key_fields),
                        std::move(parts.tuning_fields)},
      std::move(parts.test_default), std::move(parts.tunes), std::move(parts.check),
      std::move(parts.goal), parts.repeatable);
}

std::vector<named_value> detail::obtain_tuning(const autotuner_core& core, const context& context,
                                               const std::vector<named_value>& key,
                                               const tuning_options* options) {
  if (options != nullptr) return core.obtain(context, key, *options);
  return core.obtain(context, key, *tuning_options_of(context));
}

const function_identity& detail::identity_of(const autotuner_core& core) noexcept {
  return core.identity();
}

detail::graded_values detail::obtain_graded(const autotuner_core& core, const context& context,
                                            const std::vector<named_value>& key,
                                            const tuning_options* options) {
  if (options != nullptr) return core.graded(context, key, *options);
  return core.graded(context, key, *tuning_options_of(context));
}

std::vector<std::vector<named_value>> detail::obtain_finalists(const autotuner_core& core,
                                                               const context& context,
                                                               const std::vector<named_value>& key,
                                                               std::size_t most,
                                                               const tuning_options* options) {
  if (options != nullptr) return core.finalists(context, key, most, *options);
  return core.finalists(context, key, most, *tuning_options_of(context));
}

// Autotuners are static objects and deregister themselves late.
autotuner_registry& autotuner_registry::instance() {
  static detail::never_destroyed<autotuner_registry> registry;
  return *registry;
}

void autotuner_registry::add(const autotuner_core& added) {
  const std::lock_guard lock(mutex_);
  autotuners_.push_back(&added);
}

void autotuner_registry::remove(const autotuner_core& removed) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase(autotuners_, &removed);
}

void autotuner_registry::add_maker(const void* owner, std::string name, int version, maker makes,
                                   std::optional<std::vector<named_value>> example) {
  const std::lock_guard lock(mutex_);
  makers_.push_back({owner, std::move(name), version, std::move(makes), std::move(example)});
}

std::vector<std::shared_ptr<const autotuner_core>> autotuner_registry::make_examples() const {
  std::vector<registered_maker> makers;
  {
    const std::lock_guard lock(mutex_);
    makers = makers_;
  }
  std::vector<std::shared_ptr<const autotuner_core>> made;
  for (const registered_maker& each : makers) {
    if (!each.example) continue;
    try {
      made.push_back(each.makes(*each.example));
    } catch (const std::exception& failure) {
      log(log_level::warning,
          fmt::format("'{}' is not listed, because it cannot describe the kernel of "
                      "its example ({}): {}",
                      each.name, to_string(*each.example), failure.what()));
    }
  }
  return made;
}

void autotuner_registry::remove_maker(const void* owner) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase_if(makers_, [&](const registered_maker& each) { return each.owner == owner; });
}

std::shared_ptr<const autotuner_core> autotuner_registry::find(
    const std::string& name, int version, const std::vector<named_value>& key) const {
  maker makes;
  {
    const std::lock_guard lock(mutex_);
    for (const autotuner_core* each : autotuners_) {
      // A repeatable function may belong to another key.
      if (!each->is_repeatable() && each->identity().name == name &&
          each->identity().version == version) {
        return each->shared_from_this();
      }
    }
    for (const registered_maker& each : makers_) {
      if (each.name == name && each.version == version) makes = each.makes;
    }
  }
  return makes ? makes(key) : nullptr;
}

// A static object keeps its memory after its destruction, so its shared pointer still refers to the
// shared state, if another pointer keeps that.
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
  for (const autotuner_core* each : autotuners_) {
    if (each->identity() == function) return each->check(values);
  }
  throw argument_error("there is no autotune function '" + function.name + "' with these fields");
}

void autotuner_registry::require_unique(const autotuner_core& one) const {
  const std::lock_guard lock(mutex_);
  const auto& wanted = one.identity();
  const bool shared = std::ranges::any_of(autotuners_, [&](const autotuner_core* other) {
    const bool same = one.is_repeatable() && other->is_repeatable() && other->identity() == wanted;
    return other != &one && !same && other->identity().name == wanted.name &&
           other->identity().version == wanted.version;
  });
  if (shared) {
    throw argument_error("two autotune functions are named '" + wanted.name + "' with version " +
                         std::to_string(wanted.version) + "; rename one of them");
  }
}

std::vector<const autotuner_core*> registered_autotuners() {
  return autotuner_registry::instance().all();
}

std::vector<field_description> describe_values(const std::vector<named_value>& values) {
  const auto type_of = [](const value& v) {
    if (std::holds_alternative<bool>(v)) return value_type::boolean;
    if (std::holds_alternative<std::int64_t>(v)) return value_type::int64;
    if (std::holds_alternative<std::uint64_t>(v)) return value_type::uint64;
    if (std::holds_alternative<double>(v)) return value_type::float64;
    return value_type::string;
  };
  std::vector<field_description> fields;
  for (const named_value& each : values) fields.push_back({each.name, type_of(each.value)});
  return fields;
}

}  // namespace tune
