// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "libtune/search/learning_strategy.hpp"

namespace tune {

/// Iterated local search (Lourenço, Martin and Stützle, 2003): from the best of a random sample it
/// goes to the first neighbour that is better, until none is; then a few random steps away from the
/// best, or now and then from a new sample. What has been tried is never a neighbour again.
class local_strategy final : public detail::learning_strategy {
 public:
  /// @throws what strategy's constructor throws
  local_strategy(search_space space, const strategy_options& options);

 private:
  struct find {
    std::size_t index;
    double score;
  };

  std::optional<std::size_t> do_propose() override;
  void do_learn(std::size_t index, std::optional<double> score) override;

  void climb_from(const find& start);
  void leave();

  std::size_t to_sample_;            // random configurations before the next climb
  std::size_t left_behind_ = 0;      // climbs that ended
  std::optional<find> best_;         // of all
  std::optional<find> start_;        // the best since the last climb ended
  std::optional<find> current_;      // where the climb is
  std::vector<std::size_t> around_;  // neighbours still to be tried, the next one last
  std::optional<std::size_t> jump_;  // where a climb will begin, once it is told
};

}  // namespace tune
