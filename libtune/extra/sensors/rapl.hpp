// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include "libtune/extra/sensors/energy_sensor.hpp"

namespace tune::detail {

/// Reads the energy of all processor packages of this machine and of their memory, by Linux's
/// interface to the running average power limits (Intel and AMD). Wrapped counters are unwrapped,
/// if they are read at least once per period: 60 s at the highest power.
/// @param folder  of the powercap tree; another one in tests
/// @throws error if there are no such counters, or only the superuser may read them
std::unique_ptr<energy_sensor> make_rapl_sensor(const std::string& folder = "/sys/class/powercap");

}  // namespace tune::detail
