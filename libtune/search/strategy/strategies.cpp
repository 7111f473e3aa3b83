// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/strategy/strategies.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <utility>

#include "libtune/base/error.hpp"

namespace tune {
namespace {

// A new strategy is added here.
struct listed {
  std::string_view name;
  std::unique_ptr<strategy> (*make)(const search_space&, const strategy_options&);
};
constexpr std::array listed_strategies{
    listed{"exhaustive", detail::make_exhaustive}, listed{"random", detail::make_random},
    listed{"local", detail::make_local},           listed{"genetic", detail::make_genetic},
    listed{"model", detail::make_model},
};

constexpr auto listed_names = [] {
  std::array<std::string_view, listed_strategies.size()> result;
  std::ranges::transform(listed_strategies, result.begin(), &listed::name);
  return result;
}();

constexpr std::size_t small_space = 64;
constexpr double effort = 6;

// So that the order of untried configurations is not that of what the algorithm draws.
constexpr std::uint64_t other_stream = 0x9e3779b97f4a7c15;

}  // namespace

std::span<const std::string_view> strategy_names() noexcept { return listed_names; }

std::unique_ptr<strategy> make_strategy(std::string_view name, const search_space& space,
                                        const strategy_options& options) {
  const auto* found = std::ranges::find(listed_strategies, name, &listed::name);
  if (found == listed_strategies.end()) {
    throw argument_error(fmt::format("there is no search strategy '{}'; the strategies are {}",
                                     name, fmt::join(listed_names, ", ")));
  }
  return found->make(space, options);
}

default_search choose_search(std::size_t configurations, search_limit limit) noexcept {
  if (configurations <= small_space) return {"exhaustive", configurations};
  if (limit == search_limit::given) return {"model", configurations};
  const double most = std::ceil(effort * std::sqrt(static_cast<double>(configurations)));
  return {"model", std::min(configurations, std::max(small_space, static_cast<std::size_t>(most)))};
}

namespace detail {

learning_strategy::learning_strategy(search_space space, const strategy_options& options)
    : strategy(std::move(space), options),
      random_(options.seed ^ other_stream),
      untried_(this->space().size(), options.seed) {}

std::optional<std::size_t> learning_strategy::random_untried() {
  while (const auto index = untried_.next()) {
    if (!tried(*index)) return index;
  }
  return std::nullopt;
}

std::optional<std::size_t> learning_strategy::do_ask() {
  if (tried_.size() == space().size()) return std::nullopt;
  std::optional<std::size_t> index = do_propose();
  if (!index) index = random_untried();
  if (index) tried_.insert(*index);
  return index;
}

void learning_strategy::do_tell(std::size_t index, std::optional<double> score) {
  tried_.insert(index);
  if (told_.insert(index).second) do_learn(index, score);
}

}  // namespace detail
}  // namespace tune
