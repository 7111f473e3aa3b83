// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "libtune/search/allowed_choices.hpp"
#include "libtune/search/parameter.hpp"

namespace tune::detail {

/// The allowed choice with the least sum of squared differences from a point, which has a finite
/// number for each parameter. There is at least one. Depends on nothing but the arguments.
std::vector<std::size_t> closest_choice(std::span<const parameter> parameters,
                                        const allowed_choices& allowed,
                                        std::span<const double> point);

}  // namespace tune::detail
