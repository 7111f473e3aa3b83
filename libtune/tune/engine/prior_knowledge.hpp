// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <vector>

#include "libtune/store/database/stored_trial.hpp"

namespace tune {

/// What a search has used of its budget already.
struct spent_budget {
  std::chrono::nanoseconds time{0};
  std::size_t trials = 0;
};

/// What is known of earlier searches that spares a search work.
struct prior_knowledge {
  /// The trials of an unfinished search for the same, which this one may continue.
  std::vector<stored_trial> unfinished{};
  /// Whether that one was lost just now, so that the device is as it was; to begin with, at least.
  bool goes_on = false;
  /// Trials that ended with a program that does not compile, by the same compiler.
  std::vector<stored_trial> compile_failures{};
  /// What is on the denylist: trials that ended with the process or the device's context, of
  /// configurations that are not run again.
  std::vector<stored_trial> denied{};
  spent_budget spent{};
  /// Configurations that did well for similar keys, the best first: where to begin.
  std::vector<std::vector<named_value>> similar{};
};

/// Says what is known for a search that is about to start. Does not throw.
using prior_reader = std::function<prior_knowledge(const search_identity&)>;

}  // namespace tune
