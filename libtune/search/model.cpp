// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/search/model.hpp"

#include <utility>

namespace tune {

model_strategy::model_strategy(search_space searched, const strategy_options& options)
    : learning_strategy(std::move(searched), options) {}

detail::surrogate& model_strategy::model() {
  if (!model_) model_.emplace(space(), random());
  return *model_;
}

std::optional<std::size_t> model_strategy::do_propose() {
  const auto index = model().most_promising();
  if (index) model().expect(*index);
  return index;
}

void model_strategy::do_learn(std::size_t index, std::optional<double> score) {
  model().learn(index, score);
}

}  // namespace tune
