// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "libtune/compile/child_process.hpp"
#include "libtune/isolation/watchdog.hpp"
#include "libtune/tune/trial.hpp"

namespace tune::detail {

/// How many processes the system has ended on this machine for want of memory; empty if it does not
/// tell.
std::optional<std::uint64_t> count_memory_kills();

/// What is to be said of a configuration that a child was busy with when it was lost.
struct verdict {
  tune::outcome outcome = outcome::crashed;
  std::string reason{};
};

/// The watchdog has ended it.
verdict judge_overtime(const watchdog& watched, std::chrono::nanoseconds elapsed);

/// It has ended by itself. Empty if somebody else has killed it: the configuration is not to blame.
/// @param memory_ran_out  whether the system has ended processes for want of memory meanwhile
/// @param killed_before   whether a child was killed before while it was busy with this one
std::optional<verdict> judge_end(const search_step& step, const child_process::end& end,
                                 bool memory_ran_out, bool killed_before);

/// The trial of a configuration that was lost with its process.
trial lost_trial(const search_step& step, verdict said, std::chrono::nanoseconds elapsed);

}  // namespace tune::detail
