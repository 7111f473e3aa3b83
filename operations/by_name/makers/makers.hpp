// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "operations/by_name/operation_maker.hpp"

// The operations of libtune::operations, for the table of by_name.cpp.
namespace tune::operations::makers {

operation_maker fill();
operation_maker transpose();
operation_maker hreduce();
operation_maker maskedsum();
operation_maker percentile5();
operation_maker fft();
operation_maker gemm();

}  // namespace tune::operations::makers
