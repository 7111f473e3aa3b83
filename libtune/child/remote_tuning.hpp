// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/base/value.hpp"
#include "libtune/child/serve_if_worker.hpp"
#include "libtune/device/device.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/tune/engine/executor.hpp"
#include "libtune/tune/engine/prior_knowledge.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/options.hpp"

namespace tune::detail {
class kept_child;
}

namespace tune {

/// A program cannot tune: it does not start, does not call serve_if_worker, or lacks the function
/// or the device. Nothing has been tuned.
class tuner_unavailable_error : public error {
 public:
  using error::error;
};

/// The work of a child.
struct remote_task {
  function_identity function{};
  std::vector<named_value> key{};
  tune::device device;
  /// The options of the call, with its observers in this process. No database is opened for
  /// results.
  tuning_options options{};
  tuning_options context_options{};  ///< options for nested calls; without observers
  prior_reader read_prior{};         ///< called in this process; may be empty
  trial_choice choice{};
  /// The number of children, this one included, that share the cores for compiling, unless
  /// LIBTUNE_WORKERS sets the number of workers of each.
  std::size_t children = 1;
  /// Called a few times a second; true ends the tuning. May be empty.
  std::function<bool()> stop{};
  /// The child to use and to keep, unless it is lost; null: a child of its own, which ends
  /// afterwards.
  detail::kept_child* kept = nullptr;
  /// True for a search beside a running application. An end of its child from outside is not
  /// counted against a configuration.
  bool is_behind = false;
  std::string peaks{};  ///< the database that keeps the device's peaks, which the child opens
};

/// Runs an autotune function in a child process. The child opens its own device; the observers in
/// this process receive its events as if it were tuned here. A configuration that exceeds the
/// watchdog's limit, or ends its process or the device's context, becomes a trial with that
/// outcome, and another child continues, without measuring anything twice.
///
/// The calling thread must outlive the call; any number of threads may call it at the same time. It
/// leaves no child, except remote_task::kept.
/// @param program  a program whose main begins with serve_if_worker, and that has the function
/// @throws tuner_unavailable_error if nothing could be tuned; tuning_stopped_error; error if
///         children end repeatedly outside of any configuration; the errors of executor::tune
tuned_values tune_remotely(const tuner_program& program, const remote_task& task);

/// An autotune function of a program.
struct remote_function {
  function_identity identity{};
  std::vector<named_value> test_default{};
};

/// Returns the autotune functions that exist in a program at the start of its main, in the order of
/// their construction. @throws tuner_unavailable_error
std::vector<remote_function> list_functions(const tuner_program& program);

/// Returns the reason why values are not a tuning of a program's function, such as a renamed
/// enumerator; empty if they are one. Starts a child. @throws tuner_unavailable_error
std::string why_no_tuning(const tuner_program& program, const function_identity& function,
                          const std::vector<named_value>& values);

}  // namespace tune
