// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "libtune/search/learning_strategy.hpp"

namespace tune {

/// A genetic algorithm in a steady state (Whitley's GENITOR, 1989), for which no generation has to
/// be complete: children of two of the best configurations so far, each parameter from either of
/// them, some changed. What restrictions forbid becomes the closest that they allow.
class genetic_strategy final : public detail::learning_strategy {
 public:
  /// @throws what strategy's constructor throws
  genetic_strategy(search_space space, const strategy_options& options);

 private:
  struct individual {
    double score;
    std::size_t index;
  };

  std::optional<std::size_t> do_propose() override;
  void do_learn(std::size_t index, std::optional<double> score) override;

  const individual& parent();
  std::vector<double> child();

  std::size_t to_sample_;
  std::vector<individual> population_;  // the best so far, ascending
};

}  // namespace tune
