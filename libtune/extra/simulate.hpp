// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Searches without a device, of spaces that were measured before: link libtune::simulate.
#pragma once

#include "libtune/extra/simulate/random_baseline.hpp"
#include "libtune/extra/simulate/read_recording.hpp"
#include "libtune/extra/simulate/recorded_space.hpp"
#include "libtune/extra/simulate/scoring.hpp"
#include "libtune/extra/simulate/simulation.hpp"
#include "libtune/extra/simulate/strategy_score.hpp"
