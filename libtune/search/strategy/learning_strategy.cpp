// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/strategy/learning_strategy.hpp"

#include <utility>

namespace tune::detail {
namespace {

// So that the order of untried configurations is not that of what the algorithm draws.
constexpr std::uint64_t other_stream = 0x9e3779b97f4a7c15;

}  // namespace

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

}  // namespace tune::detail
