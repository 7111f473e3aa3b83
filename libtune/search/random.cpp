// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/random.hpp"

#include <utility>

namespace tune {

random_strategy::random_strategy(search_space searched, const strategy_options& options)
    : strategy(std::move(searched), options), order_(space().size(), options.seed) {}

std::optional<std::size_t> random_strategy::do_ask() { return order_.next(); }

}  // namespace tune
