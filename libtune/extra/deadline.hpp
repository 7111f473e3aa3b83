// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The knobs of a pipeline, tuned to its deadline: link libtune::deadline.
#pragma once

#include "libtune/extra/deadline/pipeline_tuner.hpp"
