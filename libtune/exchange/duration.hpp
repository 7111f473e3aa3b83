// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <string>

#include "libtune/measure/timing/samples.hpp"

namespace tune {

/// A time with three significant digits and a fitting unit: "53.1 us", "1.20 ms". What is not a
/// time has no unit: "nan", "inf".
std::string format_run_time(run_time time);

/// Whole minutes and seconds, or hours too, rounded down: "0:07", "1:02:03". A negative time, which
/// no clock should make, is shown as none.
std::string format_clock(std::chrono::nanoseconds time);

}  // namespace tune
