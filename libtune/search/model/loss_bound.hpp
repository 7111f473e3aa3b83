// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

namespace tune {

/// Returns the loss that a further case does not exceed with this probability, if it comes from the
/// same distribution as the given ones (the quantile of conformal prediction: Vovk, Gammerman and
/// Shafer, 2005); infinite if there are too few.
double loss_bound(std::vector<double> losses, double probability);

}  // namespace tune
