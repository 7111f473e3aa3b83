// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/exhaustive.hpp"

#include <utility>

namespace tune {

exhaustive_strategy::exhaustive_strategy(search_space space, const strategy_options& options)
    : strategy(std::move(space), options) {}

std::optional<std::size_t> exhaustive_strategy::do_ask() { return next_++; }

}  // namespace tune
