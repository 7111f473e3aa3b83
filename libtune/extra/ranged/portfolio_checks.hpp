// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "libtune/extra/ranged/portfolio_builder.hpp"

namespace tune {

/// Runs what a portfolio chooses at a few sizes, and checks the results. A leaf's choice is run at
/// both of its ends, in its middle and somewhere between, or where these are not in it at others
/// that are; one that does not work is replaced by another that does, at last by the fallback. Of
/// what costs choose, each configuration is run at the smallest and the largest of the sizes that
/// it is chosen for and at two between; one that does not work is chosen nowhere. What there was no
/// time for, or no size, counts as unchecked.
/// @param made      is changed
/// @param plan      that it was made by
/// @param compared  sizes at which configurations were compared
/// @param fallback  works at all sizes
/// @param from      runs and checks
void check_choices(built_portfolio& made, const portfolio_plan& plan,
                   std::span<const size_list> compared,
                   const portfolio_source::configuration& fallback, portfolio_source& from);

}  // namespace tune
