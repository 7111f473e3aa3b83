// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <sys/types.h>

#include "libtune/kernel/pool/worker_message.hpp"

namespace tune::worker {

/// What a worker does with its orders.
struct trade {
  std::function<void(const detail::compile_target&)> prepare;
  std::function<compile_result(const detail::compile_order&)> compile;
};

/// Greets, and carries out the orders that come through a socket, one after the other, until the
/// other end is closed. What an order throws becomes its result.
/// @returns the exit status: 0, or 1 if the other end sent what means nothing or takes nothing
int serve(int socket, const trade& trade);

/// The same as the program that a compile_pool starts: sees that it ends with its parent, leaves no
/// core file behind, and is the first to go when memory runs out. Ends the process.
[[noreturn]] void work_for(::pid_t parent, const trade& trade);

/// The main of libtune-worker.
/// @param arguments  of main; a person who calls the program is told what it is for
int run(int count, char** arguments, const trade& trade);

}  // namespace tune::worker
