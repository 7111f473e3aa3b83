// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <string>

#include "libtune/extra/sensors/energy_sensor.hpp"

namespace tune::detail {

/// Reads the energy of all processor packages of this machine and of their memory, by the running
/// average power limits that Linux offers (Intel and AMD). Counters that wrap around are unwrapped,
/// if they are read at least once in a round: 60 s at the highest power.
/// @param folder  of the powercap tree; another one in tests
/// @throws error if there is no such counter, or only the superuser may read it
std::unique_ptr<energy_sensor> make_rapl_sensor(const std::string& folder = "/sys/class/powercap");

}  // namespace tune::detail
