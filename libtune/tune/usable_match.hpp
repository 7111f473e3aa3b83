// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "libtune/device/context.hpp"
#include "libtune/store/record.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/options.hpp"
#include "libtune/tune/session.hpp"

namespace tune {

/// Tries a configuration somewhere else than in this process. Returns why it does not work; nothing
/// if it does. Does not throw.
using trial_elsewhere = std::function<std::optional<std::string>(const std::vector<named_value>&)>;

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
                                        std::size_t& index, const trial_elsewhere& elsewhere = {});

/// The first of the results that can be used here. Runs the autotune function as far as its first
/// search to learn the space, on this thread; no search takes place here. None if the function ends
/// without a search or throws, for then nothing can be checked. Does not throw.
std::optional<record> find_usable(
    const std::vector<record>& candidates, const context& context, const tuning_subject& subject,
    const tuning_options& options,
    const std::function<void(tuning_session&, const std::vector<named_value>&)>& function,
    const trial_elsewhere& elsewhere = {});

}  // namespace tune
