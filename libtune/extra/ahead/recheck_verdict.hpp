// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The verdict about a stored result, from the trials of a comparison. Data alone: no device, no
// clock, no file.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "libtune/extra/ahead/recheck.hpp"
#include "libtune/store/database/stored_trial.hpp"
#include "libtune/tune/goal.hpp"
#include "libtune/tune/observer.hpp"

namespace tune::detail {

/// The events of a comparison: a search that tries a list of configurations.
struct comparison {
  search_identity identity{};
  std::optional<search_started_event> started{};  ///< of its last search
  std::vector<trial> trials{};                    ///< of its last search, in their latest state
  std::optional<search_finished_event> finished{};
  std::string failure{};    ///< the reason for an end without a result; empty: it has one
  bool is_stopped = false;  ///< ended by recheck_options::stop

  /// The trial of a configuration; null without one.
  const trial* find(const std::vector<named_value>& configuration) const;
  /// The winner; null without one.
  const trial* best() const;
};

/// Decides the verdict, and sets its members of the result: verdict, reason, fault, scores, best,
/// loss and compared.
/// @param within  a smaller slowdown counts as a tie
void judge(recheck_result& result, const comparison& made, double within);

/// True if a second comparison of the result with the best alone can change the verdict.
bool needs_second_look(const recheck_result& result);

/// Sets the rivals of a result, by its first comparison.
void note_rivals(recheck_result& result, const comparison& made);

/// Returns the configurations to compare, each once: the stored one, the further ones, its best
/// other trials, and the test default last. Fewer than this if a run takes so long that all of them
/// would exceed the time, and two at least.
/// @param further  always among them
/// @param trials  of the search that found the result
/// @param time    the device time of the comparison
std::vector<std::vector<named_value>> list_rivals(
    const stored_winner& winner, const std::vector<std::vector<named_value>>& further,
    std::vector<stored_trial> trials, const std::vector<named_value>& test_default,
    std::size_t runners_up, std::chrono::nanoseconds time);

}  // namespace tune::detail
