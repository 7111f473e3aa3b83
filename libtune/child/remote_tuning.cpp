// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/child/remote_tuning.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "libtune/base/environment.hpp"
#include "libtune/child/remote_search.hpp"
#include "libtune/child/tuner_child.hpp"
#include "libtune/child/tuner_message.hpp"
#include "libtune/process/usable_resources.hpp"
#include "libtune/tune/test_mode.hpp"

namespace tune {
namespace {

tuning_options without_observers(const tuning_options& options) {
  tuning_options plain = options;
  plain.observers.clear();
  return plain;
}

detail::tuning_request request_for(const remote_task& task) {
  const auto address =
      detail::address_of(task.device, detail::devices_of(task.device.info().backend));
  if (!address) {
    throw tuner_unavailable_error("device '" + task.device.name() +
                                  "' cannot be found by another process");
  }
  return {.function = task.function,
          .key = task.key,
          .device = *address,
          .options = without_observers(task.options),
          .context_options = without_observers(task.context_options),
          .choice = task.choice,
          .testing = detail::current_test_mode(),
          .peaks = task.peaks};
}

void share_cores(tuner_program& program, std::size_t children) {
  if (children < 2 || read_environment("LIBTUNE_WORKERS")) return;
  const int all = detail::worker_count(detail::find_usable_resources());
  const int each = std::max(1, all / static_cast<int>(children));
  program.variables.push_back("LIBTUNE_WORKERS=" + std::to_string(each));
}

void narrow_to(const device& wanted, tuner_program& program) {
  for (std::string& each :
       detail::variables_for(wanted, detail::devices_of(wanted.info().backend))) {
    program.variables.push_back(std::move(each));
  }
}

}  // namespace

tuned_values tune_remotely(const tuner_program& program, const remote_task& task) {
  tuner_program started = program;
  share_cores(started, task.children);
  narrow_to(task.device, started);
  return detail::remote_search(started, task, request_for(task)).run();
}

}  // namespace tune
