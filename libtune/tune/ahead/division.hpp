// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

#include "libtune/tune/ahead/search_pace.hpp"
#include "libtune/tune/engine/trial_choice.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/options.hpp"

namespace tune {

/// What one of several devices is to try of a search.
struct search_part {
  trial_choice choice{};
  tuning_options options{};
};

/// Divides what is left of a search. A space of which everything is tried is dealt out, a
/// configuration to each in turn. Of others each device searches the whole space by the same
/// strategy with a seed of its own, for its part of what was planned.
/// @param whole    as it began
/// @param tried    configurations that have been tried or taken over
/// @param options  of the whole search
/// @param parts    two at least
std::vector<search_part> divide(const search_started_event& whole, std::size_t tried,
                                const tuning_options& options, std::size_t parts);

/// Into how many parts what is left of a search may be divided, so that it gains by it: each starts
/// as the whole has started, and so does the child that measures the best of them.
/// @param left  configurations
/// @param outlook  empty: nobody knows yet
/// @param smallest  how long each part has to take at least; zero: all that does not matter
/// @returns from 1 to left; nothing where that cannot be said yet
std::optional<std::size_t> worthwhile_parts(std::size_t left,
                                            const std::optional<search_outlook>& outlook,
                                            std::chrono::nanoseconds smallest);

}  // namespace tune
