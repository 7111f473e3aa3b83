// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "libtune/base/value.hpp"
#include "libtune/store/database/tuning_layers.hpp"
#include "libtune/tune/search_problem.hpp"

namespace tune {

/// What did well for a similar key: the results of the nearest devices for the same arguments, an
/// earlier one of this device among them, and the best trials behind the first of them; then the
/// results of this device for other arguments, the most similar first. Each comes once, at most so
/// many. Nothing of it has to be in the present space. Never throws for what a database is like.
std::vector<std::vector<named_value>> similar_results(const tuning_layers& layers,
                                                      const function_identity& function,
                                                      const record_key& key, std::size_t most = 16);

/// Their numbers, of those that are in the space.
std::vector<std::size_t> numbers_of(const std::vector<std::vector<named_value>>& configurations,
                                    const search_problem& problem);

}  // namespace tune
