// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
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

/// The strategy to take where nobody has chosen one: "exhaustive" where everything will be tried
/// anyhow and soon, else "model". The README tells why.
/// @param configurations  in the space
/// @param budget          how many may be tried; empty if there is no limit
std::string_view choose_strategy(std::size_t configurations,
                                 std::optional<std::size_t> budget) noexcept;

}  // namespace tune
