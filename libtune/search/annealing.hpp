// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>

#include "libtune/search/learning_strategy.hpp"

namespace tune {

/// Simulated annealing (Kirkpatrick, Gelatt and Vecchi, 1983): random steps from where it is, of
/// which it takes what is better, and what is worse with a probability that falls with the ratio of
/// the scores and with a temperature. Once this is low, it is raised again, and the search goes on
/// from the best.
class annealing_strategy final : public detail::learning_strategy {
 public:
  /// @throws what strategy's constructor throws
  annealing_strategy(search_space space, const strategy_options& options);

 private:
  struct find {
    std::size_t index;
    double score;
  };

  std::optional<std::size_t> do_propose() override;
  void do_learn(std::size_t index, std::optional<double> score) override;

  bool accepts(double score);

  std::size_t to_sample_;
  double cooling_;  // for each answer
  double temperature_;
  std::optional<find> best_;
  std::optional<find> current_;
};

}  // namespace tune
