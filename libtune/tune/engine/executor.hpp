// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

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
#include "libtune/tune/engine/trial_choice.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/options.hpp"

namespace tune {

using detail::tuning_function;

/// One call of an autotune function that is to be made. All that it refers to outlives it.
struct tuning_task {
  const tune::context& context;
  const function_identity& function;
  const tuning_function& tunes;
  const tuning_subject& subject;
  const tuning_options& options;  ///< with wait and budget resolved, and all who are to hear of it
  prior_reader read_prior{};
  trial_choice choice{};
  std::string database{};  ///< the path of the one that keeps the result; empty: none does
};

/// What an autotune function has found.
struct tuned_values {
  std::vector<named_value> values;
  std::optional<run_time> score;  ///< of the search that ended last, if there was one
};

/// Where autotune functions are run. Thread-safe.
class executor {
 public:
  executor() = default;
  virtual ~executor() = default;
  executor(const executor&) = delete;
  executor& operator=(const executor&) = delete;

  /// Runs it. Throws what the function throws, as the same type where that is one of libtune's that
  /// callers tell apart, else as tune::error with the same text.
  tuned_values tune(const tuning_task& task) { return do_tune(task); }

 private:
  virtual tuned_values do_tune(const tuning_task& task) = 0;
};

/// Runs it here and now, on this thread, with the task's context.
tuned_values tune_here(const tuning_task& task, const step_hooks& hooks = {});

/// Runs it where its options, the environment and the program say: on the installed host, or here.
/// @throws error if they insist on isolation and there is no host; environment_error
tuned_values run_tuning(const tuning_task& task);

namespace detail {

/// Makes a host that of this process; null: none. Thread-safe.
void install_executor(std::shared_ptr<executor> host);

}  // namespace detail
}  // namespace tune
