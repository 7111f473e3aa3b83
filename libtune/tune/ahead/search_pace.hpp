// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

namespace tune {

/// What can be expected of a search.
struct search_outlook {
  /// What it took to the first trial: a process, data, programs.
  std::chrono::nanoseconds start{0};
  std::chrono::nanoseconds rest{0};  ///< what is left will take it
};

/// How long a search will take, judged by how fast it has been going since its first trial. One
/// thread uses it.
class search_pace {
 public:
  using clock = std::chrono::steady_clock;

  /// @param start  when the child that searches was started
  explicit search_pace(clock::time_point start) : start_(start) {}

  /// To be asked often. @param left  configurations that are still to be tried now
  /// @returns nothing before enough of them have been tried
  std::optional<search_outlook> look(std::size_t left, clock::time_point now);

 private:
  struct moment {
    std::size_t left;
    clock::time_point time;
  };

  clock::time_point start_;
  std::optional<std::size_t> first_left_;
  std::optional<moment> first_trial_;
};

}  // namespace tune
