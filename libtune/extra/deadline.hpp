// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The knobs of a pipeline, tuned to its deadline, and a load beside which an engine is tuned: link
// libtune::deadline.
#pragma once

#include "libtune/extra/deadline/background_load.hpp"
#include "libtune/extra/deadline/live_knobs.hpp"
#include "libtune/extra/deadline/pipeline_tuner.hpp"
