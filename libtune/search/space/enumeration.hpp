// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "libtune/search/space/allowed_choices.hpp"
#include "libtune/search/space/restriction.hpp"
#include "libtune/search/space/search_space.hpp"

namespace tune::detail {

/// What is left of a Cartesian product.
struct enumeration {
  allowed_choices allowed;
  std::vector<std::size_t> removed;  ///< for each restriction; with allowed, the whole product
};

/// What an enumeration may cost: about a minute, and a gibibyte.
struct enumeration_limits {
  std::size_t visits = std::size_t{1} << 32;  ///< candidates tried in all groups
  std::size_t edges = std::size_t{1} << 26;   ///< kept in the graph
};

/// Visits the product of each group of connected parameters depth first and turns back as soon as
/// a restriction that has what it reads says no. What lies below is found once for all choices
/// that differ only in what no later restriction reads. Among the restrictions that can be asked
/// at one depth, the order is that of the list; a removed combination counts for the first that
/// said no, where all are asked by depth.
/// @throws error      if a restriction throws, with its exception nested; the text names both
/// @throws argument_error  if a restriction is found to read more than it has declared, which is
///                         looked for at a few hundred combinations, or a limit is exceeded
enumeration enumerate(std::span<const parameter> parameters,
                      std::span<const restriction_outline> restrictions, combination at,
                      const enumeration_limits& limits = {});

}  // namespace tune::detail
