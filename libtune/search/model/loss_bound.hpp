// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

namespace tune {

/// Returns the loss that one more case stays below with this probability, if it is drawn as those
/// with these losses were (the quantile of conformal prediction: Vovk, Gammerman and Shafer, 2005);
/// infinite if there are too few of them to say.
double loss_bound(std::vector<double> losses, double probability);

}  // namespace tune
