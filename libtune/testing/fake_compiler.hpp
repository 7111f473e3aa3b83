// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "libtune/device/device.hpp"
#include "libtune/device/kernel.hpp"

namespace tune::testing {

/// All that a fake device's compiler understands: a line "#error TEXT" outside of all conditions
/// is an error, at the place that the "#line" directives before it say.
/// @throws build_error with a log in the manner of clang ("name:line:1: error: TEXT")
void check_source(const program_source& source, const device_info& device);

}  // namespace tune::testing
