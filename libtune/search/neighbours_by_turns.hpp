// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "libtune/search/random_source.hpp"
#include "libtune/search/search_space.hpp"

namespace tune::detail {

/// All Hamming neighbours of a configuration in random order, in which parameters take turns: one
/// with thirty candidates does not crowd out one with two.
std::vector<std::size_t> neighbours_by_turns(const search_space& space, std::size_t index,
                                             random_source& random);

}  // namespace tune::detail
