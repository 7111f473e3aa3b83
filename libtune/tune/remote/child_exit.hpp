// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The outcome of a configuration whose process was lost.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "libtune/process/child_process.hpp"
#include "libtune/tune/remote/watchdog.hpp"
#include "libtune/tune/trial.hpp"

namespace tune::detail {

/// The number of processes that this machine has ended because memory ran out; empty if the system
/// does not count them.
std::optional<std::uint64_t> count_memory_kills();

/// The outcome of the configuration that a child was running when it was lost.
struct classification {
  tune::outcome outcome = outcome::crashed;
  std::string reason{};
};

/// The watchdog has ended the child.
classification classify_overtime(const watchdog& watched, std::chrono::nanoseconds elapsed);

/// True if something other than the configuration may have ended the child, so that one such exit
/// proves nothing.
bool may_be_from_outside(const child_process::end& end) noexcept;

/// The child has ended by itself, or has lost its end of the socket.
/// @param memory_ran_out  true if the system has ended processes meanwhile because memory ran out
/// @param ended_before    true if a child ended like that before while it ran this configuration
/// @returns empty if something else may have ended it: the configuration is not to blame
std::optional<classification> classify_exit(const search_step& step, const child_process::end& end,
                                            bool memory_ran_out, bool ended_before);

/// The bytes from the child are no message.
classification classify_invalid_message(const search_step& step, const std::string& what);

/// Something has stopped the child (SIGSTOP, a debugger).
classification classify_stopped(const search_step& step);

/// The trial of a configuration that was lost with its process.
trial lost_trial(const search_step& step, classification found, std::chrono::nanoseconds elapsed);

}  // namespace tune::detail
