// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "libtune/search/strategy/strategy.hpp"

namespace tune::testing {

/// Makes the strategy under test.
using strategy_maker = strategy_factory;

/// Checks the requirements of every search strategy, each as one doctest subcase: it proposes every
/// configuration of a space once and no other, with answers at once, late, in another order or
/// never, and with any answers; it keeps the limits; it is deterministic for a seed; if it may end
/// early it says so, and otherwise it continues. Call it from a test case; a strategy that fails is
/// unfinished. A proposal must be fast: about 20,000 are made.
void check_strategy_conformance(const strategy_maker& make);

/// Checks a strategy by its name (register_strategy):
///   TEST_CASE("hill conforms") { tune::testing::check_strategy_conformance("hill"); }
/// @throws argument_error for an unknown name
void check_strategy_conformance(std::string_view name);

}  // namespace tune::testing
