// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "libtune/extra/simulate/recorded_space.hpp"

namespace bench {

/// Synthetic spaces: models of kernels on an imagined device, with the quantisation, cliffs,
/// interactions, failures and noise of real ones. They serve the development of strategies, so that
/// the recorded ones stay unseen. The seed determines the device and the noise. They are a matrix
/// product, a time-tiled stencil, a reduction, and a sum of random interactions.
std::vector<tune::recorded_space> synthetic_spaces(std::uint64_t seed);

}  // namespace bench
