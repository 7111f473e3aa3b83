// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Kernels of the telescope's other observations, tuned while it receives this one.
#pragma once

#include <cstddef>
#include <string>

#include "examples/receiver/digitiser.hpp"
#include "libtune/libtune.hpp"

namespace receiver {

/// Asks for the kernels of observations with other numbers of channels, bits and beams to be tuned
/// behind the program. Does not wait.
/// @param count  of keys, at most
/// @returns how many of them are tuned behind from now on: those without a result
std::size_t tune_other_observations(const tune::context& context, const settings& sizes,
                                    std::size_t count);

/// The keys that were tuned and were not, and the intervals between frames beside it.
/// @param elapsed  s, of the run beside them
std::string describe_tuning_behind(double elapsed);

}  // namespace receiver
