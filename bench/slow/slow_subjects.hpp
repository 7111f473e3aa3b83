// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "libtune/extra/bare.hpp"
#include "libtune/operation/workload.hpp"

namespace bench {

/// A kernel whose runs take milliseconds, described as a user would.
struct slow_subject {
  std::string name;
  tune::bare_kernel kernel;
  std::function<void(tune::workload&)> fill;  ///< gives a workload the contents of its inputs
};

/// Makes the four kernels: a dedispersion of 1536 channels x 25000 samples to 2048 measures, the
/// attraction of 131072 bodies, the potential of 4096 charges at 256^3 points, and a product of
/// matrices of 4096 x 4096 in single precision.
/// @param small  makes them some hundred times smaller, for a CPU
std::vector<slow_subject> slow_subjects(bool small);

}  // namespace bench
