// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <string>

namespace sealed {

/// The end of a child: "ended with 0", "killed by signal 31 (Bad system call)".
using child_end = std::string;

/// Runs prepare() and then watched() in a child made by fork. While watched() runs, the first
/// system call, of whatever kind, kills the child with SIGSYS; only to end is allowed.
/// @returns how it ended: with what watched() returned, or with 99 if either function threw. Empty
///          where the system has no such filter
child_end run_without_system_calls(const std::function<void()>& prepare,
                                   const std::function<int()>& watched);

}  // namespace sealed
