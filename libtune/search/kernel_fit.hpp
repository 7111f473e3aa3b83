// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "libtune/search/additive_kernel.hpp"

namespace tune::detail {

/// Settings of the kernel that explain the values better, or the same if none were found: those of
/// the greatest posterior probability, looked for along one of them after the other. Lengths are
/// believed to be about that of the whole axis, unless the values say otherwise.
/// @param points  the numbers of candidates, for each value as many as there are axes
additive_kernel::settings fit_kernel(const coordinates& places, additive_kernel::settings from,
                                     std::span<const std::uint32_t> points,
                                     std::span<const float> values);

}  // namespace tune::detail
