// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <memory>

#include "libtune/search/strategy/strategy.hpp"

namespace tune::testing {

/// Makes the strategy under test.
using strategy_maker =
    std::function<std::unique_ptr<strategy>(const search_space&, const strategy_options&)>;

/// Checks what every search strategy has to do, as one doctest subcase for each requirement: it
/// proposes every configuration of a space once and no other, whether answers come at once, late,
/// in another order or never, and whatever they are; it keeps the limits; it is the same for the
/// same seed. Call it from a test case; a strategy that does not is unfinished:
///   TEST_CASE("my strategy conforms") {
///     tune::testing::check_strategy_conformance([](const auto& space, const auto& options) {
///       return std::make_unique<my_strategy>(space, options);
///     });
///   }
void check_strategy_conformance(const strategy_maker& make);

}  // namespace tune::testing
