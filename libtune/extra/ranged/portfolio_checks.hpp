// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "libtune/extra/ranged/portfolio_builder.hpp"

namespace tune {

/// Runs the choices of a portfolio at a few sizes, and checks the results. A leaf's choice is run
/// at both of its ends, in its middle and at a size between, or at other sizes of the leaf if these
/// lie outside it. A choice that fails is replaced by another that works, and finally by the
/// fallback. If costs choose, each configuration is run at the smallest and the largest size for
/// which it is chosen, and at two between; one that fails is never chosen. Choices without time or
/// sizes for a run count as unchecked.
/// @param made      the portfolio; modified
/// @param plan      the plan of the portfolio
/// @param compared  the sizes at which configurations were compared
/// @param fallback  a configuration that works at all sizes
/// @param from      runs and checks
void check_choices(built_portfolio& made, const portfolio_plan& plan,
                   std::span<const size_list> compared,
                   const portfolio_source::configuration& fallback, portfolio_source& from);

}  // namespace tune
