// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Tuning in slices behind an application, in the mode behind: link libtune::behind. A source of the
// program that includes this header opens that mode.
#pragma once

#include "libtune/extra/behind/heartbeat.hpp"
#include "libtune/extra/behind/quiet_moments.hpp"
#include "libtune/extra/behind/tuning_behind.hpp"
#include "libtune/tune/opened_door.hpp"

LIBTUNE_OPEN_DOOR(behind)
