// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>

namespace tune {

/// How long what is left of a search will take, judged by how fast it has been going since its
/// first trial: what came before that, the start of its process and the first programs, is over.
/// One thread uses it.
class search_pace {
 public:
  using clock = std::chrono::steady_clock;

  /// To be asked often. @param left  configurations that are still to be tried now
  /// @returns nothing before enough of them have been tried
  std::optional<std::chrono::nanoseconds> expect(std::size_t left, clock::time_point now);

 private:
  struct moment {
    std::size_t left;
    clock::time_point time;
  };

  std::optional<std::size_t> first_left_;
  std::optional<moment> begin_;  // when the first trial was seen
};

}  // namespace tune
