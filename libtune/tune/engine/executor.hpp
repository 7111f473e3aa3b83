// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/device/context.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/tune/autotuner.hpp"
#include "libtune/tune/engine/prior_knowledge.hpp"
#include "libtune/tune/engine/step_hooks.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/options.hpp"

namespace tune {

using detail::tuning_function;

namespace detail {
class kept_child;
}

/// The pace of a search beside the application. All references must outlive the search.
struct background_task {
  step_gate* gate = nullptr;             ///< the gate of a search in this process
  std::vector<std::string> variables{};  ///< "NAME=value", for a child; empty: no child can run it
  std::function<bool()> stop{};          ///< called often; true ends the search
  detail::kept_child* child = nullptr;   ///< the child that is reused
};

/// One call of an autotune function. All references must outlive it.
struct tuning_task {
  const tune::context& context;
  const function_identity& function;  ///< its name includes the goal (detail::name_with_goal)
  const tuning_function& tunes;
  const tuning_subject& subject;
  const tuning_options& options;  ///< resolved (search_options), with all observers of the call
  prior_reader read_prior{};
  trial_choice choice{};
  std::string database{};  ///< the path of the database for the result; empty: not stored
  const background_task* behind = nullptr;  ///< null: the application waits for it
  /// The path of the database that keeps the device's peaks; empty: none.
  std::string peaks{};

  /// Returns the same task with other options, which must outlive it.
  tuning_task with(const tuning_options& other) const {
    return {context, function, tunes, subject, other, read_prior, choice, database, behind, peaks};
  }
};

/// The result of an autotune function.
struct tuned_values {
  std::vector<named_value> values;
  std::optional<run_time> score;  ///< the score of the last completed search, if any
};

/// Runs autotune functions elsewhere, such as in a child process. Thread-safe.
class executor {
 public:
  executor() = default;
  virtual ~executor() = default;
  executor(const executor&) = delete;
  executor& operator=(const executor&) = delete;

  /// Runs the task. Throws the function's errors: with the same type for those types of libtune
  /// that callers distinguish, else as tune::error with the same text.
  tuned_values tune(const tuning_task& task) { return do_tune(task); }

 private:
  virtual tuned_values do_tune(const tuning_task& task) = 0;
};

/// Runs a task on this thread, with the task's context.
tuned_values tune_here(const tuning_task& task, const step_hooks& hooks = {});

/// Runs a task in the installed executor or here, by its options and the program.
/// @throws error if the options require isolation and the executor is missing
tuned_values run_tuning(const tuning_task& task);

/// Returns the settings of one run, to test if a configuration works.
inline measure_settings single_run() {
  return {.time_limit = std::chrono::nanoseconds(0), .min_iterations = 1, .max_iterations = 1};
}

namespace detail {

/// Returns the quota of a tuning in this process: the value of the option; else the memory that is
/// free on the device now less a reserve for the application, a quarter of it, and at least 256 MiB
/// or, on a small device, a 64th of its memory.
std::shared_ptr<memory_quota> make_quota(const context& context,
                                         const std::optional<memory_budget>& given);
/// Returns the quota of the tuning of this thread, nested or not; else a new quota.
std::shared_ptr<memory_quota> current_quota(const context& context,
                                            const std::optional<memory_budget>& given);

/// Installs the executor of this process; null: no executor. Thread-safe.
void install_executor(std::shared_ptr<executor> wanted);

/// True if run_tuning would pass a task with these options to the installed executor.
bool runs_in_child(const tuning_options& options);

/// Runs one configuration once, in the place where run_tuning runs the task. Returns the reason why
/// it fails; empty if it works. @throws tuning_stopped_error
std::optional<std::string> try_in_child(const tuning_task& task,
                                        const std::vector<named_value>& configuration);

}  // namespace detail
}  // namespace tune
