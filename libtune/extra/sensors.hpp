// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Energy, clocks and counters: link libtune::sensors. A source of the program that includes this
// header opens them to goals, to LIBTUNE_METRICS and to configurations that set clocks.
#pragma once

#include "libtune/extra/sensors/device_probes.hpp"
#include "libtune/extra/sensors/energy_meter.hpp"
#include "libtune/extra/sensors/energy_sensor.hpp"
#include "libtune/extra/sensors/supported_settings.hpp"
#include "libtune/tune/opened_door.hpp"

LIBTUNE_OPEN_DOOR(sensors)
