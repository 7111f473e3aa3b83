// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The decision whether to divide a search among several devices, and into which shards.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

#include "libtune/tune/engine/trial_choice.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/options.hpp"

namespace tune {

/// The expected times of a search.
struct search_forecast {
  std::chrono::nanoseconds start{0};  ///< up to the first trial: a process, data, programs
  std::chrono::nanoseconds rest{0};   ///< for all that is left
};

/// Forecasts the time of a search from its pace since the first trial. One thread uses it.
class search_pace {
 public:
  using clock = std::chrono::steady_clock;

  /// @param start  when the child that searches was started
  explicit search_pace(clock::time_point start) : start_(start) {}

  /// To be called often. @param left  configurations that are still to be tried now
  /// @returns empty until enough of them have been tried
  std::optional<search_forecast> look(std::size_t left, clock::time_point now);

 private:
  struct moment {
    std::size_t left;
    clock::time_point time;
  };

  clock::time_point start_;
  std::optional<std::size_t> first_left_;
  std::optional<moment> first_trial_;
};

/// The share of one device in a search.
struct search_shard {
  trial_choice choice{};
  tuning_options options{};
};

/// Divides the rest of a search. Of a space that is searched exhaustively each shard gets every
/// n-th configuration. Otherwise each searches the whole space by the same strategy with a seed of
/// its own, and tries its share of the planned number.
/// @param whole    as it began
/// @param tried    configurations that have been tried, here or in the search that it resumes
/// @param options  of the whole search
/// @param shards   at least two
std::vector<search_shard> divide(const search_started_event& whole, std::size_t tried,
                                 const tuning_options& options, std::size_t shards);

/// Returns the greatest number of shards that saves time: each starts as the whole has started, and
/// so does the child that measures the best of them.
/// @param left      configurations
/// @param forecast  empty: not known yet
/// @param smallest  the least time that each shard has to take; zero: any
/// @returns from 1 to left; empty where that cannot be known yet
std::optional<std::size_t> worthwhile_shards(std::size_t left,
                                             const std::optional<search_forecast>& forecast,
                                             std::chrono::nanoseconds smallest);

}  // namespace tune
