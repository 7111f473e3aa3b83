// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include <cstddef>
#include <optional>
#include <utility>

#include "libtune/search/model/surrogate.hpp"
#include "libtune/search/strategy/strategies.hpp"

namespace tune {
namespace {

class model_strategy final : public detail::learning_strategy {
 public:
  model_strategy(search_space searched, const strategy_options& options)
      : learning_strategy(std::move(searched), options) {}

 private:
  std::optional<std::size_t> do_propose() override {
    const auto index = model().most_promising();
    if (index) model().expect(*index);
    return index;
  }
  void do_learn(std::size_t index, std::optional<double> score) override {
    model().learn(index, score);
  }

  detail::surrogate& model() {
    if (!model_) model_.emplace(space(), random());
    return *model_;
  }

  std::optional<detail::surrogate> model_;  // once it is needed
};

}  // namespace

std::unique_ptr<strategy> detail::make_model(const search_space& space,
                                             const strategy_options& with) {
  return std::make_unique<model_strategy>(space, with);
}

}  // namespace tune
