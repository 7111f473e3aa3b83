// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>

#include "libtune/search/learning_strategy.hpp"
#include "libtune/search/surrogate.hpp"

namespace tune {

/// Bayesian optimisation (Mockus, 1978; Jones, Schonlau and Welch, 1998): proposes what a model of
/// the answers so far expects to gain most from. The model is a Gaussian process with an additive
/// kernel, which learns of failures too; see detail::surrogate.
class model_strategy final : public detail::learning_strategy {
 public:
  /// @throws what strategy's constructor throws
  model_strategy(search_space space, const strategy_options& options);

 private:
  std::optional<std::size_t> do_propose() override;
  void do_learn(std::size_t index, std::optional<double> score) override;

  detail::surrogate& model();

  std::optional<detail::surrogate> model_;  // once it is needed
};

}  // namespace tune
