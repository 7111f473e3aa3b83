// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "libtune/search/space/choice_graph.hpp"
#include "libtune/search/space/combination_probe.hpp"
#include "libtune/search/space/enumeration.hpp"

namespace tune::detail {

/// Parameters that restrictions connect, directly or through others, in ascending order, and these
/// restrictions in the order in which enumeration asks them.
struct parameter_group {
  std::vector<std::size_t> parameters;
  std::vector<std::size_t> restrictions;
};

/// Every parameter is in one group; the groups are in the order of their first parameters.
/// Restrictions that read no parameter are in none. One without a list reads all.
std::vector<parameter_group> group_parameters(std::size_t parameters,
                                              std::span<const restriction_outline> restrictions);

/// How many parameters have to be set before the restriction can be asked.
std::size_t depth_of(const restriction_outline& restriction, std::size_t parameters);

/// The restrictions in the order in which they are asked: by depth, then as given.
std::vector<std::size_t> asking_order(std::size_t parameters,
                                      std::span<const restriction_outline> restrictions);

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
