// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/isolation/isolated_host.hpp"

#include <fmt/format.h>
#include <utility>

#include "libtune/base/error.hpp"
#include "libtune/base/fork_guard.hpp"
#include "libtune/base/log.hpp"
#include "libtune/isolation/remote_tuning.hpp"
#include "libtune/store/identity_column.hpp"
#include "libtune/tune/error.hpp"
#include "libtune/tune/settings.hpp"

namespace tune::detail {
namespace {

std::string name_of(const tuning_task& task) {
  return fmt::format("{}\n{}\n{}", task.function.name, task.function.version,
                     canonical_text(task.subject.device.identity));
}

}  // namespace

tuned_values isolated_host::do_tune(const tuning_task& task) {
  if (is_hopeless(task)) return tune_here(task);
  try {
    return tune_remotely(program_, {.function = task.function,
                                    .key = task.subject.arguments,
                                    .device = task.context.device(),
                                    .options = task.options,
                                    .context_options = *tuning_options_of(task.context),
                                    .recall = task.recall,
                                    .choice = task.choice});
  } catch (const tuner_unavailable_error& failure) {
    return fall_back(task, failure.what());
  }
}

tuned_values isolated_host::fall_back(const tuning_task& task, const std::string& reason) {
  const std::string what =
      fmt::format("{} cannot be tuned in a child process: {}", describe(task.subject), reason);
  if (resolve_isolation(task.options) == isolation_mode::on) {
    throw error(what + " (and isolation 'on' forbids to tune it in the program itself)");
  }
  {
    const fork_guard no_fork;
    const std::lock_guard lock(mutex_);
    hopeless_.insert(name_of(task));
  }
  log(log_level::info, what + "; it is tuned in the program itself");
  return tune_here(task);
}

// Children would only refuse again, and each takes a while to start.
bool isolated_host::is_hopeless(const tuning_task& task) const {
  if (resolve_isolation(task.options) == isolation_mode::on) return false;
  const fork_guard no_fork;
  const std::lock_guard lock(mutex_);
  return hopeless_.contains(name_of(task));
}

}  // namespace tune::detail
