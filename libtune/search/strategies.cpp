// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/strategies.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "libtune/base/error.hpp"
#include "libtune/search/exhaustive.hpp"
#include "libtune/search/model.hpp"
#include "libtune/search/random.hpp"

namespace tune {
namespace {

template <class Strategy>
std::unique_ptr<strategy> make(const search_space& space, const strategy_options& options) {
  return std::make_unique<Strategy>(space, options);
}

// A new strategy is added here, in both lists.
constexpr std::array<std::string_view, 3> names{"exhaustive", "random", "model"};
constexpr std::array makers{make<exhaustive_strategy>, make<random_strategy>, make<model_strategy>};
static_assert(names.size() == makers.size());

}  // namespace

std::span<const std::string_view> strategy_names() noexcept { return names; }

std::unique_ptr<strategy> make_strategy(std::string_view name, const search_space& space,
                                        const strategy_options& options) {
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) {
    throw argument_error(fmt::format("there is no search strategy '{}'; the strategies are {}",
                                     name, fmt::join(names, ", ")));
  }
  return makers[static_cast<std::size_t>(found - names.begin())](space, options);
}

}  // namespace tune
