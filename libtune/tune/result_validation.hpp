// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Checks of stored results: if another device's result works here, if the present space still has
// it, and if the kernel has changed since.
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

/// Tries a configuration in another process. Returns the reason of a failure; empty if it works.
/// Does not throw.
using trial_in_child = std::function<std::optional<std::string>(const std::vector<named_value>&)>;

/// Returns the reason why the configuration of another device's result cannot be used here; empty
/// if it can.
///
/// It must be in the space, and within the limits of the device if space.needs declares its
/// resources. Otherwise it is generated and run once, as in a trial, which compiles it and respects
/// the author's own reasons to skip it.
/// @param in_child  runs it in another process; empty: it runs here
std::optional<std::string> why_unusable(const search_problem& problem,
                                        const std::vector<named_value>& configuration,
                                        const device& device, const tuning_options& options,
                                        const trial_in_child& in_child = {});

/// Returns the first of the results that can be used here. To learn the space, it runs the autotune
/// function of the task up to its first search, on this thread; it never searches. Empty if the
/// function ends without a search or throws, because then nothing can be checked. Does not throw.
std::optional<record> find_usable(const std::vector<record>& candidates, const tuning_task& task);

/// Like find_usable, without compiling, tuning or running anything: a result that would need a run
/// for its check is skipped, and so are all if the function has to compile or tune something before
/// its first search.
std::optional<record> find_usable_at_once(const std::vector<record>& candidates,
                                          const tuning_task& task);

/// Returns the reason why the present space, or its declared limits of the device, does not allow a
/// result that was stored for this key and device; empty if it does, or if that cannot be
/// determined. Runs the autotune function as find_usable does, but compiles and tunes nothing: it
/// cannot check a function that does so before its first search. Does not throw.
/// @param was_in_space  called for values outside of the space: returns true if the first search of
///                      the function found them. Values that it makes of several searches, or
///                      imported ones, need not be in the space of the first.
std::optional<std::string> why_forbidden(const std::vector<named_value>& values,
                                         const tuning_task& task,
                                         const std::function<bool()>& was_in_space);

/// Compares the program of a stored result with the measured one, when this thread compiles it for
/// the context: one warning if it differs, or includes a changed file. Reads nothing before that.
/// Compares nothing if the trials of the result are unknown, another libtune made them, or the
/// files that a program includes cannot be determined.
/// @param layers  the databases of the result; kept until then
void watch_for_kernel_change(const context& context,
                             const std::shared_ptr<const tuning_layers>& layers,
                             const function_identity& function, const tuning_subject& subject,
                             const record& found);

namespace detail {

/// Leaves a function that this thread runs only for its space, at the point where it would have to
/// tune something else first; does nothing on other threads.
void leave_if_only_looking();

}  // namespace detail
}  // namespace tune
