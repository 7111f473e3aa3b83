// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// Who says when a search ends.
enum class search_limit : std::uint8_t {
  none,  ///< nobody: the default has to
  given  ///< a budget, or a limit of the strategy's options
};

/// How a space is searched where nobody has chosen a strategy.
struct default_search {
  std::string_view strategy;
  std::size_t most = 0;  ///< configurations to propose
};

/// Everything in a space of at most 64 configurations, for that costs a second or two and is
/// certain. In larger ones the model chooses: as many as the given limit lets it, else six times
/// the square root of the configurations, so 64 of 100, 190 of a thousand, 6000 of a million. By
/// then the model has long found the best region of the spaces that it was measured with
/// (bench/strategies), and what it would still gain is within the noise of measuring.
default_search choose_search(std::size_t configurations, search_limit limit) noexcept;

}  // namespace tune
