// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "operations/by_name/by_name.hpp"

namespace tune::operations {

/// Adds the operations of libtune::telescope to those that make_template and describe_parameters
/// know: unpack, pfb, ddc, quantise, correlate, correlate_reduce, beamform, rfi and rfi2d. Later
/// calls do nothing. Thread-safe.
/// @throws argument_error if the program has registered one of these names
void register_telescope_operations();

}  // namespace tune::operations
