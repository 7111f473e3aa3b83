// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string_view>

#include "libtune/search/strategy/strategy.hpp"

namespace tune::testing {

/// Makes the strategy under test.
using strategy_maker = strategy_factory;

/// Checks what every search strategy has to do, as one doctest subcase for each requirement: it
/// proposes every configuration of a space once and no other, whether answers come at once, late,
/// in another order or never, and whatever they are; it keeps the limits; it is the same for the
/// same seed; where it may end early it says so, and where it may not it goes on. Call it from a
/// test case; a strategy that does not pass is unfinished. The time of a proposal counts: about
/// 20,000 are made.
void check_strategy_conformance(const strategy_maker& make);

/// The same for a strategy that has a name (register_strategy):
///   TEST_CASE("hill conforms") { tune::testing::check_strategy_conformance("hill"); }
/// @throws argument_error if no strategy has this name
void check_strategy_conformance(std::string_view name);

}  // namespace tune::testing
