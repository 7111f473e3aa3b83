// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Observers that print or write, and the picture of an operation: link libtune::console. If a
// source of the program includes this header, each search logs what it has tried of its space, and
// writes the page that LIBTUNE_REPORT names.
#pragma once

#include "libtune/console/drawing.hpp"
#include "libtune/console/event_log.hpp"
#include "libtune/console/progress.hpp"
#include "libtune/console/reports.hpp"
#include "libtune/console/result_text.hpp"
#include "libtune/tune/opened_door.hpp"

LIBTUNE_OPEN_DOOR(console)
