// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Checks of stored results: whether that of another device works here, whether the present space
// still has it, and whether the kernel has changed since.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libtune/store/database/record.hpp"
#include "libtune/tune/engine/executor.hpp"
#include "libtune/tune/search_problem.hpp"

namespace tune {

class tuning_layers;

/// Tries a configuration in another process. Returns the reason why it does not work; nothing if it
/// does. Does not throw.
using trial_in_child = std::function<std::optional<std::string>(const std::vector<named_value>&)>;

/// Returns the reason why the configuration of another device's result cannot be used here; nothing
/// if it can.
///
/// It has to be in the space, and within the limits of the device as far as space.needs declares
/// its resources. Where that is not declared it is generated and run once, as in a trial, which
/// compiles it and takes the author's own reasons to skip it into account.
/// @param in_child  where to run it; empty: here
std::optional<std::string> why_unusable(const search_problem& problem,
                                        const std::vector<named_value>& configuration,
                                        const device& device, const tuning_options& options,
                                        const trial_in_child& in_child = {});

/// Returns the first of the results that can be used here. Runs the autotune function of the task
/// as far as its first search to learn the space, on this thread; no search takes place here. None
/// if the function ends without a search or throws, because then nothing can be checked. Does not
/// throw.
std::optional<record> find_usable(const std::vector<record>& candidates, const tuning_task& task);

/// The same, without compiling, tuning or running anything: a result that would have to be run to
/// be checked is passed over, and so is every one if the function has to compile or tune something
/// before its first search.
std::optional<record> find_usable_at_once(const std::vector<record>& candidates,
                                          const tuning_task& task);

/// Returns the reason why the present space, or the limits of the device that it declares, does not
/// allow a result that was stored for this very key and device; nothing if it does, or that cannot
/// be determined. Runs the autotune function as find_usable does, but compiles and tunes nothing on
/// the way: of a function that has to before it searches nothing can be determined. Does not throw.
/// @param was_in_space  called where the values are not in the space: returns true if the first
///                      search of the function found them. Values that it makes of several
///                      searches, or imported ones, need not be in the space of the first.
std::optional<std::string> why_forbidden(const std::vector<named_value>& values,
                                         const tuning_task& task,
                                         const std::function<bool()>& was_in_space);

/// Has the program of a stored result compared with the one that was measured, when this thread
/// compiles it for the context: one warning if it is another, or includes a file that has changed.
/// Reads nothing before that. Nothing is compared where the trials of the result are not known,
/// another libtune made them, or the files that a program includes cannot be determined.
/// @param layers  those in which the result was found; kept until then
void watch_for_kernel_change(const context& context,
                             const std::shared_ptr<const tuning_layers>& layers,
                             const function_identity& function, const tuning_subject& subject,
                             const record& found);

namespace detail {

/// Leaves a function that this thread runs only to see its space, at the point where it would have
/// to tune something else first; nothing happens on other threads.
void leave_if_only_looking();

}  // namespace detail
}  // namespace tune
