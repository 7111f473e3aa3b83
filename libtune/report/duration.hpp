// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <string>

#include "libtune/measure/samples.hpp"

namespace tune {

/// A time with three significant digits and a fitting unit: "53.1 us", "1.20 ms".
std::string format_run_time(run_time time);

/// Minutes and seconds, or hours too: "0:07", "1:02:03".
std::string format_clock(std::chrono::nanoseconds time);

}  // namespace tune
