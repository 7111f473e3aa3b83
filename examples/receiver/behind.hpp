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

/// Requests tuning behind the program for the kernels of observations with other numbers of
/// channels, bits and beams. Does not wait.
/// @param count  the greatest number of keys
/// @returns the number of keys tuned behind from now on: those without a result
std::size_t tune_other_observations(const tune::context& context, const settings& sizes,
                                    std::size_t count);

/// The keys with and without a result, and the intervals between frames meanwhile.
/// @param elapsed  s, of the run during the tuning
std::string describe_tuning_behind(double elapsed);

}  // namespace receiver
