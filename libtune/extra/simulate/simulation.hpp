// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include "libtune/extra/simulate/recorded_space.hpp"
#include "libtune/search/strategy/strategy.hpp"

namespace tune {

/// One evaluation of a simulated search.
struct simulated_step {
  std::size_t index = 0;             ///< the number of the configuration
  std::optional<double> score_ms{};  ///< empty if it failed
  double finished_ms = 0;            ///< since the search began
};

struct simulation_options {
  /// The search ends with the first step that finishes after this time.
  std::optional<double> max_ms = std::nullopt;
  /// The greatest number of steps.
  std::optional<std::size_t> max_count = std::nullopt;
  /// The number of configurations requested before the first answer, as if compilation ran ahead of
  /// measurement. At least 1.
  std::size_t ahead = 1;
  /// The cost of each evaluation, instead of the recorded one. With 1, finished_ms counts
  /// evaluations.
  std::optional<double> cost_ms = std::nullopt;
  /// A clock in milliseconds. The strategy's own time is added to the cost of evaluations; without
  /// a clock it counts as zero.
  std::function<double()> clock_ms = nullptr;
};

/// Runs a strategy on recorded measurements instead of a device, until it ends or a limit is
/// reached. The configurations are evaluated one after another, in the order of the proposals.
/// @throws argument_error if the strategy's space has another size, or ahead is 0
std::vector<simulated_step> simulate(strategy& searching, const recorded_space& recorded,
                                     const simulation_options& options = {});

}  // namespace tune
