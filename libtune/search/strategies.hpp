// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "libtune/search/strategy.hpp"

namespace tune {

/// The names of all strategies, as make_strategy takes them. They are stored with results: never
/// rename one.
std::span<const std::string_view> strategy_names() noexcept;

/// A strategy by its name.
/// @throws argument_error that lists the names if there is none of this name, and what strategy's
///         constructor throws
std::unique_ptr<strategy> make_strategy(std::string_view name, const search_space& space,
                                        const strategy_options& options = {});

}  // namespace tune
