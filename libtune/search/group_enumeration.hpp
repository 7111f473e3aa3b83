// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "libtune/search/choice_graph.hpp"
#include "libtune/search/combination_probe.hpp"
#include "libtune/search/enumeration.hpp"
#include "libtune/search/parameter_groups.hpp"

namespace tune::detail {

/// What is left of the combinations of one group.
struct group_enumeration {
  choice_graph::node root = choice_graph::none;
  std::size_t combinations = 1;      ///< before any restriction
  std::vector<std::size_t> refused;  ///< by each of the group's restrictions
};

/// The part of enumerate that is for one group. What it finds is added to the graph.
/// @param left  is reduced by what this costs
group_enumeration enumerate_group(const parameter_group& group, combination_probe& at,
                                  choice_graph& graph, enumeration_limits& left);

}  // namespace tune::detail
