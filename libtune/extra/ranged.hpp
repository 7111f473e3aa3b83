// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// One tuning for each size of a range: link libtune::ranged.
#pragma once

#include "libtune/extra/ranged/portfolio.hpp"
#include "libtune/extra/ranged/ranged_autotuner.hpp"
