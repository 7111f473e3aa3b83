// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "libtune/base/fields.hpp"
#include "libtune/device/context.hpp"
#include "libtune/measure/measure.hpp"
#include "libtune/search/space.hpp"
#include "libtune/tune/observer.hpp"
#include "libtune/tune/options.hpp"
#include "libtune/tune/recollection.hpp"
#include "libtune/tune/search_guard.hpp"
#include "libtune/tune/trial_runner.hpp"

namespace tune {

/// What is said to the searches of a session beside the options of the application.
struct session_rules {
  search_guard guard{};
  bool only_listed = false;  ///< whether a list is all that there is to try, even if nothing works
};

/// What an autotune function is given: where to tune and how. Made by the autotuner, or by hand to
/// tune without one. One thread uses it.
class tuning_session {
 public:
  /// Says which configurations a search is to try in place of what the strategy proposes; none:
  /// the strategy decides.
  using shortlist_function = std::function<std::vector<std::size_t>(const search_problem&)>;

  /// @param recall     what earlier searches know; empty: nothing
  /// @param shortlist  asked at the start of each search. If no configuration on the list can be
  ///                   measured, the search is as if there were none. What it throws leaves tune.
  tuning_session(const context& context, tuning_subject subject, const tuning_options& options,
                 wall_clock now = std::chrono::steady_clock::now, recall_function recall = {},
                 shortlist_function shortlist = {}, session_rules rules = {});

  const tune::context& context() const noexcept { return context_; }
  const tuning_options& options() const noexcept { return options_; }

  /// Searches a space. For each configuration, generate(tuning) compiles it, prepares its inputs
  /// and returns a measure; nullptr skips it, and what it throws becomes a reason: neither ends
  /// the search. Returns the configuration with the least median time.
  /// @throws empty_space_error, tuning_failed_error (with every reason)
  template <fielded Tuning, std::invocable<const Tuning&> Generate>
  requires std::convertible_to<std::invoke_result_t<Generate&, const Tuning&>, measure> Tuning
  tune(const space<Tuning>& space, Generate&& generate) {
    const search_problem problem{
        .space = space.core(),
        .configuration = [&](std::size_t index) { return to_values(space[index]); },
        .needs = [&](std::size_t index) { return space.resources_of(space[index]); },
        .generate = [&](std::size_t index) -> measure { return generate(space[index]); },
        .find =
            [&](const std::vector<named_value>& values) {
              return space.find(from_values<Tuning>(values));
            }};
    return space[search(problem)];
  }

  /// The autotuner's test default: a configuration that works on every device, and so one whose
  /// result may be taken for the answer (take_answer).
  /// @throws argument_error in a session without an autotuner, type_error for another Tuning
  template <fielded Tuning>
  Tuning test_default() const {
    return from_values<Tuning>(test_default_values());
  }

  /// The median time of the best configuration of the search that ended last.
  std::optional<run_time> best_score() const noexcept { return best_score_; }

 private:
  std::size_t search(const search_problem& problem);
  const std::vector<named_value>& test_default_values() const;

  tune::context context_;
  tuning_subject subject_;
  tuning_options options_;
  wall_clock now_;
  recall_function recall_;
  shortlist_function shortlist_;
  session_rules rules_;
  int searches_ = 0;  // that have started
  std::optional<run_time> best_score_;
};

}  // namespace tune
