// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/tune/remote/isolated_host.hpp"

#include <fmt/format.h>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/log.hpp"
#include "libtune/store/database/identity_column.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/tune/remote/remote_tuning.hpp"
#include "libtune/tune/settings.hpp"

namespace tune::detail {
namespace {

std::string name_of(const tuning_task& task) {
  return fmt::format("{}\n{}\n{}", task.function.name, task.function.version,
                     canonical_text(task.subject.device.identity));
}

}  // namespace

void isolated_host::add(tuner_program program) {
  const std::lock_guard lock(mutex_);
  std::erase(programs_, program);
  programs_.insert(programs_.begin(), std::move(program));
  hopeless_.clear();
}

tuned_values isolated_host::do_tune(const tuning_task& task) {
  const std::vector<tuner_program> programs = programs_for(task);
  if (programs.empty()) return tune_here(task);
  std::string reason;
  for (const tuner_program& program : programs) {
    try {
      tuned_values made =
          tune_remotely(program, {.function = task.function,
                                  .key = task.subject.arguments,
                                  .device = task.context.device(),
                                  .options = task.options,
                                  .context_options = *tuning_options_of(task.context),
                                  .read_prior = task.read_prior,
                                  .choice = task.choice});
      remember(task, program);
      return made;
    } catch (const tuner_unavailable_error& failure) {
      reason = failure.what();
    }
  }
  return fall_back(task, reason);
}

// Children that have refused would only do so again, and each takes a while to start.
std::vector<tuner_program> isolated_host::programs_for(const tuning_task& task) const {
  const bool insists = resolve_isolation(task.options) == isolation_mode::on;
  const std::lock_guard lock(mutex_);
  const std::string name = name_of(task);
  if (const auto known = known_.find(name); known != known_.end()) return {known->second};
  if (hopeless_.contains(name) && !insists) return {};
  return programs_;
}

void isolated_host::remember(const tuning_task& task, const tuner_program& program) {
  const std::lock_guard lock(mutex_);
  known_.insert_or_assign(name_of(task), program);
}

tuned_values isolated_host::fall_back(const tuning_task& task, const std::string& reason) {
  const std::string what =
      fmt::format("{} cannot be tuned in a child process: {}", describe(task.subject), reason);
  if (resolve_isolation(task.options) == isolation_mode::on) {
    throw error(what + " (and isolation 'on' forbids to tune it in the program itself)");
  }
  {
    const std::lock_guard lock(mutex_);
    known_.erase(name_of(task));
    hopeless_.insert(name_of(task));
  }
  log(log_level::info, what + "; it is tuned in the program itself");
  return tune_here(task);
}

}  // namespace tune::detail
