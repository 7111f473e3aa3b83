// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>

#include "libtune/search/random_source.hpp"
#include "libtune/search/search_space.hpp"

namespace tune::detail {

/// What strategies propose that calculate with configurations: the closest configuration to a
/// point, or one a few random steps from there if that has been tried; empty if those all have.
/// @param point  an index of a candidate for each parameter, as closest() takes it
std::optional<std::size_t> untried_near(const search_space& space, std::span<const double> point,
                                        const std::function<bool(std::size_t)>& tried,
                                        random_source& random);

}  // namespace tune::detail
