// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "operations/by_name/operation_maker.hpp"

// The operations of libtune::telescope, for register_telescope_operations.
namespace tune::operations::makers {

operation_maker unpack();
operation_maker pfb();
operation_maker ddc();
operation_maker quantise();
operation_maker correlate();
operation_maker correlate_reduce();
operation_maker beamform();
operation_maker rfi();
operation_maker rfi2d();

}  // namespace tune::operations::makers
