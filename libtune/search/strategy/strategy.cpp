// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/strategy/strategy.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <utility>

#include "libtune/base/error.hpp"

namespace tune {
namespace {

std::size_t count_proposals(std::size_t size, const strategy_options& options) {
  std::size_t count = std::min(size, options.max_count.value_or(size));
  if (!options.max_fraction) return count;
  const double fraction = *options.max_fraction;
  if (!(fraction > 0 && fraction <= 1)) {
    throw argument_error(fmt::format(
        "a search cannot be limited to the fraction {} of its space; give one over 0, up to 1",
        fraction));
  }
  const double part = std::ceil(fraction * static_cast<double>(size));
  return part < static_cast<double>(count) ? static_cast<std::size_t>(part) : count;
}

double good_enough(const strategy_options& options) {
  constexpr double close = 0.02;
  const double least = options.least_score.value_or(-std::numeric_limits<double>::infinity());
  return std::isfinite(least) ? least + close * std::abs(least) : least;
}

}  // namespace

strategy::strategy(search_space space, const strategy_options& options)
    : space_(std::move(space)),
      left_(count_proposals(space_.size(), options)),
      warm_start_(options.warm_start.rbegin(), options.warm_start.rend()),
      good_enough_(good_enough(options)),
      may_end_early_(options.early_end.value_or(true)) {
  for (const std::size_t index : warm_start_) {
    if (index < space_.size()) continue;
    throw argument_error(
        fmt::format("a warm start with configuration {} of a space of {}", index, space_.size()));
  }
}

std::optional<std::size_t> strategy::ask() {
  if (left_ == 0) return std::nullopt;
  const std::optional<std::size_t> proposal = next_proposal();
  left_ = proposal ? left_ - 1 : 0;
  ended_early_ = ended_early_ && !proposal;
  return proposal;
}

std::optional<std::size_t> strategy::next_proposal() {
  while (!warm_start_.empty()) {
    const std::size_t index = warm_start_.back();
    warm_start_.pop_back();
    if (warm_.insert(index).second) return index;
  }
  std::optional<std::size_t> proposal = do_ask();
  while (proposal && warm_.contains(*proposal)) proposal = do_ask();
  return proposal;
}

void strategy::tell(std::size_t index, std::optional<double> score) {
  if (index >= space_.size()) {
    throw argument_error(fmt::format("a result was reported for configuration {} of a space of {}",
                                     index, space_.size()));
  }
  if (score && !std::isfinite(*score)) score.reset();
  if (score && *score <= good_enough_ && left_ > 0 && end_early()) left_ = 0;
  do_tell(index, score);
}

void strategy::do_tell(std::size_t, std::optional<double>) {}

}  // namespace tune
