// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "libtune/process/child_process.hpp"
#include "libtune/tune/remote/watchdog.hpp"
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

/// With this status a child ends that cannot be spoken with, because its own descriptor of the
/// conversation is closed or is another file.
inline constexpr int lost_link_status = 113;

/// The watchdog has ended it.
verdict judge_overtime(const watchdog& watched, std::chrono::nanoseconds elapsed);

/// Whether it may have been ended by somebody else, so that a single time says nothing.
bool may_be_from_outside(const child_process::end& end) noexcept;

/// It has ended by itself, or cannot be spoken with. Empty if somebody else may have ended it: the
/// configuration is not to blame.
/// @param memory_ran_out  whether the system has ended processes for want of memory meanwhile
/// @param ended_before    whether a child was ended like that before while it was busy with this
/// one
std::optional<verdict> judge_end(const search_step& step, const child_process::end& end,
                                 bool memory_ran_out, bool ended_before);

/// What came over its descriptor of the conversation is none of the conversation.
verdict judge_nonsense(const search_step& step, const std::string& what);

/// Its process did not run: something has stopped it (SIGSTOP, a debugger).
verdict judge_stopped(const search_step& step);

/// The trial of a configuration that was lost with its process.
trial lost_trial(const search_step& step, verdict said, std::chrono::nanoseconds elapsed);

}  // namespace tune::detail
