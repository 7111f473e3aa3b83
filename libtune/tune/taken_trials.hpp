// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "libtune/store/stored_trial.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/trial_list.hpp"
#include "libtune/tune/trial_runner.hpp"

namespace tune {

/// The trials of an unfinished search that a new one for the same may take over: one for each
/// configuration, the latest, in the order of the trials.
///
/// None if the kernel has changed since, which costs one warning. To find out, the best of them is
/// generated up to its first tune::compile, and the digest of that program compared; nothing is
/// compiled. A change that only other programs or configurations show is not noticed, nor one of a
/// kernel that is not compiled by tune::compile.
std::vector<trial> trials_to_take_over(const std::vector<stored_trial>& stored,
                                       const search_problem& problem,
                                       const tuning_subject& subject);

/// Those that were taken over and have to be measured again, because the device may have been
/// faster or slower when they were made: they are close to the best, and so is one that is new.
/// Their configurations, the best first.
/// @param most  how many
std::vector<std::size_t> taken_over_to_compare(const trial_list& trials, std::size_t most);

}  // namespace tune
