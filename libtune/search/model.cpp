// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/model.hpp"

#include <cstdlib>
#include <utility>

namespace tune {

model_strategy::model_strategy(search_space searched, const strategy_options& options)
    : learning_strategy(std::move(searched), options) {}

std::optional<std::size_t> model_strategy::do_propose() {
  if (!model_) model_.emplace(space(), random());
  static const std::size_t n0 = getenv("N0") ? atoi(getenv("N0")) : 2;
  std::optional<std::size_t> index;
  if (asked_++ < n0)
    index = random_untried();
  else
    index = model_->most_promising();
  if (index) model_->expect(*index);
  return index;
}

void model_strategy::do_learn(std::size_t index, std::optional<double> score) {
  if (!model_) model_.emplace(space(), random());
  model_->learn(index, score);
}

}  // namespace tune
