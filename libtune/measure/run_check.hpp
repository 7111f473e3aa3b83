// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// Judges a configuration by runs that are made for it: it prepares each, and looks at what came of
/// it. For what a function that is called after one run cannot do: fill outputs before the run, or
/// compare a run with another. Used by one thread at a time.
class run_check {
 public:
  run_check() = default;
  virtual ~run_check() = default;
  run_check(const run_check&) = delete;
  run_check& operator=(const run_check&) = delete;

  /// How many runs it wants to see, at least one.
  virtual int runs() const noexcept = 0;
  /// Called before each, counted from 0, and before the reset function of the measure.
  virtual void prepare(int run) = 0;
  /// Called when it has ended. Describes what is wrong, which ends the check; empty if it is right.
  virtual std::optional<std::string> judge(int run) = 0;
};

}  // namespace tune
