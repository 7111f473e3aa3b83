// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace tune::detail {

/// The expectations of a search.
struct expected_search {
  /// The part of a frame's time that a whole search saves.
  double saving = 0;
  /// The time after which a search has found all but 37 % (1/e) of that. Positive.
  std::chrono::duration<double> pace{1};

  /// The part of a frame's time that is not saved yet after this time.
  double left_after(std::chrono::duration<double> spent) const noexcept;
};

/// A search, and the time for it.
struct planned_search {
  std::size_t index = 0;
  std::chrono::duration<double> time{};
};

/// The shortest time of a search: it starts a process, and compiles its first programs.
inline constexpr std::chrono::duration<double> shortest_search{1};

/// Chooses the next search: the one that saves most in its first second. The time is divided among
/// all searches such that their sum saves most, if each saves saving * (1 - exp(-time / pace)).
/// A pure function.
/// @param left  the searches that are left
/// @param time  the time for all of them
/// @returns empty without searches, or if the time is too short for one
std::optional<planned_search> next_search(std::span<const expected_search> left,
                                          std::chrono::duration<double> time);

/// Makes searches in the order of next_search, which divides the time that is left before each of
/// them: what a search leaves of its time goes to the others.
/// @param time_left  returns the time that is left
/// @param search     makes the search of an index in the given time, or less
/// @returns the indices of the searches for which there was no time, those that save most first
std::vector<std::size_t> search_in_order(
    std::span<const expected_search> searches,
    const std::function<std::chrono::duration<double>()>& time_left,
    const std::function<void(std::size_t, std::chrono::duration<double>)>& search);

}  // namespace tune::detail
