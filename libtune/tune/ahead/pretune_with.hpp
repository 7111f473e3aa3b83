// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include "libtune/tune/ahead/key_tuning.hpp"
#include "libtune/tune/ahead/pretuning.hpp"

namespace tune::detail {

/// pretune, where something else than child processes of a program may do the work.
/// @param tune     thread-safe
/// @param refuses  why values are no tuning of a function any more, empty if they are; thread-safe
std::vector<pretuning_result> pretune_with(const remote_tuner& tune,
                                           std::span<const pretuning_item> items,
                                           std::span<const device> devices,
                                           const pretuning_options& options,
                                           const tuning_refusal& refuses = {});

}  // namespace tune::detail
