// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "libtune/measure/timing/samples.hpp"

namespace tune {

/// How many runs to take the mean of for one sample, so that a coarse timer adds no more than a
/// part of it to the spread of the samples: with 1 %, 1 if a run is longer than about 40 times the
/// resolution; 128 at most. A single run comes out as one of two neighbouring ticks, and many
/// samples of it have a tick for their median; the mean of some runs lies in between, where it
/// belongs.
/// @param one_run     about what one run takes
/// @param resolution  the tick of the timer; zero or less: exact
/// @param allowed     that part, above zero
int runs_per_sample(run_time one_run, run_time resolution, double allowed = 0.01) noexcept;

}  // namespace tune
