// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "libtune/search/gaussian_process.hpp"

namespace tune::detail {

/// A kernel that explains the values better, or the same if none was found: the greatest posterior
/// probability along one length after the other, and then the noise, around what was given. Lengths
/// are believed to be about that of the whole axis, unless the values say otherwise.
gaussian_kernel fit_kernel(gaussian_kernel kernel, std::span<const float> points,
                           std::span<const float> values);

}  // namespace tune::detail
