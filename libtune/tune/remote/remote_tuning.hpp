// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "libtune/base/error.hpp"
#include "libtune/base/value.hpp"
#include "libtune/device/device.hpp"
#include "libtune/store/database/function_identity.hpp"
#include "libtune/tune/engine/executor.hpp"
#include "libtune/tune/engine/prior_knowledge.hpp"
#include "libtune/tune/engine/trial_choice.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/options.hpp"
#include "libtune/tune/remote/tuner_program.hpp"

namespace tune {

/// A program could not be had to tune: it cannot be started, is no tuner, or has neither the
/// function nor the device. Nothing has been tuned.
class tuner_unavailable_error : public error {
 public:
  using error::error;
};

/// A tuning was ended because somebody wanted it to.
class tuning_stopped_error : public error {
 public:
  using error::error;
};

/// What a child is to tune.
struct remote_task {
  function_identity function{};
  std::vector<named_value> key{};
  tune::device device;
  /// Of the call, with the observers that hear of it in this process. A database is not opened.
  tuning_options options{};
  tuning_options context_options{};  ///< what calls inside the function use; without observers
  prior_reader read_prior{};         ///< asked in this process; empty: nothing is known
  trial_choice choice{};
  /// So many children, this one included, share the cores for compiling, unless LIBTUNE_WORKERS
  /// says how many helpers each has.
  std::size_t children = 1;
  /// Asked a few times a second; true ends the tuning. Empty: nobody does.
  std::function<bool()> stop{};
};

/// Runs an autotune function in a child process. The child opens its own device; what it finds is
/// told to the observers here as if it were tuned here. A configuration that takes longer than the
/// watchdog allows, or takes its process or the device's context with it, becomes a trial with that
/// outcome, and another child goes on, with nothing measured twice.
///
/// To be called by a thread that outlives the call, any number of threads at the same time. No
/// child is left when it returns.
/// @param program  one whose main begins with serve_if_worker, and has the function
/// @throws tuner_unavailable_error if nothing could be tuned, tuning_stopped_error, error if
/// children
///         end again and again outside of any configuration, and what executor::tune throws
tuned_values tune_remotely(const tuner_program& program, const remote_task& task);

/// An autotune function of a program.
struct remote_function {
  function_identity identity{};
  std::vector<named_value> test_default{};
};

/// The autotune functions of a program that are there before its main begins, in the order in which
/// they were made. @throws tuner_unavailable_error
std::vector<remote_function> list_functions(const tuner_program& program);

/// Why values are no tuning of a program's function, such as those with an enumerator that it has
/// renamed; empty if they are one. Starts a child. @throws tuner_unavailable_error
std::string why_no_tuning(const tuner_program& program, const function_identity& function,
                          const std::vector<named_value>& values);

}  // namespace tune
