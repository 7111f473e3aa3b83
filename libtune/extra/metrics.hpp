// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The state of a running program for its operators, in the text format of Prometheus: link
// libtune::metrics. A source of the program that includes this header has the answers of all
// autotuners counted.
#pragma once

#include "libtune/extra/metrics/frame_clock.hpp"
#include "libtune/extra/metrics/frame_histogram.hpp"
#include "libtune/extra/metrics/metric_page.hpp"
#include "libtune/extra/metrics/metrics_exporter.hpp"
#include "libtune/tune/opened_door.hpp"

LIBTUNE_OPEN_DOOR(metrics)
