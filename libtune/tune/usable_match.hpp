// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "libtune/device/context.hpp"
#include "libtune/store/database/record.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/options.hpp"
#include "libtune/tune/session.hpp"

namespace tune {

/// Tries a configuration somewhere else than in this process. Returns why it does not work; nothing
/// if it does. Does not throw.
using trial_in_child = std::function<std::optional<std::string>(const std::vector<named_value>&)>;

/// Why the configuration of another device's result cannot be used here; nothing if it can.
///
/// It has to be in the space, and within the limits of the device as far as space.needs declares
/// what it asks for. Where that is not declared it is generated and run once, as in a trial, which
/// compiles it and takes the author's own reasons to skip it into account.
/// @param index      set to its number in the space, if it is there
/// @param elsewhere  where to run it; empty: here
std::optional<std::string> why_unusable(const search_problem& problem,
                                        const std::vector<named_value>& configuration,
                                        const device& device, const tuning_options& options,
                                        std::size_t& index, const trial_in_child& elsewhere = {});

/// The first of the results that can be used here. Runs the autotune function as far as its first
/// search to learn the space, on this thread; no search takes place here. None if the function ends
/// without a search or throws, for then nothing can be checked. Does not throw.
std::optional<record> find_usable(
    const std::vector<record>& candidates, const context& context, const tuning_subject& subject,
    const tuning_options& options,
    const std::function<void(tuning_session&, const std::vector<named_value>&)>& function,
    const trial_in_child& elsewhere = {});

/// Why the present space, or what it declares of the device's limits, does not allow a result that
/// was stored for this very key and device; nothing if it does, or that cannot be told. Runs the
/// autotune function as find_usable does, but compiles and tunes nothing on the way: a function
/// that has to before it searches cannot be told. Does not throw.
/// @param was_in_space  asked where the values are not in the space: whether they were found by the
///                      first search of the function. What it makes of several searches, or what
///                      was imported, need not be in the space of the first.
std::optional<std::string> why_forbidden(
    const std::vector<named_value>& values, const context& context, const tuning_subject& subject,
    const tuning_options& options,
    const std::function<void(tuning_session&, const std::vector<named_value>&)>& function,
    const std::function<bool()>& was_in_space);

namespace detail {

/// Leaves a function that this thread runs only to see its space, at the point where it would have
/// to tune something else first; nothing happens on other threads.
void leave_if_only_looking();

}  // namespace detail
}  // namespace tune
