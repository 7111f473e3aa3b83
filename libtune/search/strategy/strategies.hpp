// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "libtune/search/strategy/strategy.hpp"

namespace tune {

/// The names of all strategies, as make_strategy takes them. They are stored with results: never
/// rename one.
std::span<const std::string_view> strategy_names() noexcept;

/// A strategy by its name.
/// @throws argument_error that lists the names if there is none of this name, and what strategy's
///         constructor throws
std::unique_ptr<strategy> make_strategy(std::string_view name, const search_space& space,
                                        const strategy_options& options = {});

/// A few given configurations, in the order given, each once.
/// @param space   the space that the numbers belong to
/// @param listed  numbers of configurations of the space
/// @throws argument_error if there is no configuration of one of the numbers
std::unique_ptr<strategy> make_shortlist(const search_space& space,
                                         std::vector<std::size_t> listed);

/// Who says when a search ends.
enum class search_limit : std::uint8_t {
  none,  ///< nobody: the default has to
  given  ///< a budget, or a limit of the strategy's options
};

/// How a space is searched where nobody has chosen a strategy.
struct default_search {
  std::string_view strategy;  ///< its name, which lives as long as the program
  std::size_t most = 0;       ///< configurations to propose
};

/// Everything in a space of at most 64 configurations, for that costs a second or two and is
/// certain. In larger ones the model chooses: as many as the given limit lets it, else six times
/// the square root of the configurations, so 64 of 100, 190 of a thousand, 6000 of a million. By
/// then the model has long found the best region of the spaces that it was measured with
/// (bench/strategies), and what it would still gain is within the noise of measuring.
default_search choose_search(std::size_t configurations, search_limit limit) noexcept;

}  // namespace tune
