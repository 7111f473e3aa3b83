// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <sys/types.h>

#include "libtune/kernel/pool/worker_message.hpp"

namespace tune::detail {

/// The functions that execute a worker's orders.
struct order_handlers {
  std::function<void(const compile_target&)> prepare;
  std::function<compile_result(const compile_order&)> compile;
};

/// Compiles with NVRTC and OpenCL, according to the order's target. Devices and contexts stay open
/// for the next order.
order_handlers compile_handlers();

/// Greets, and executes the orders from a socket, one after the other, until the other end is
/// closed. An exception of a handler becomes the result of its order.
/// @returns the exit status: 0, or 1 if the other end sent an invalid message or accepts none
int serve_orders(int socket, const order_handlers& handlers);

/// Serves as the program that a compile_pool starts: it ends with its parent, writes no core file,
/// and is the first to be killed when memory runs out. Ends the process.
[[noreturn]] void work_for(::pid_t parent, const order_handlers& handlers);

/// The main of libtune-worker.
/// @param arguments  of main; without a pool's arguments it prints the purpose of the program
int run_worker(int count, char** arguments, const order_handlers& handlers);

/// Holds back the standard error of the process during its life. At its end it is written, except
/// for the lines in which PoCL's compiler counts its errors ("1 error generated."): they do not
/// name the program, and its log has the errors. If a compiler crashes, everything is written
/// before the process ends.
///
/// For helper processes without other writers: an application's other threads, and the processes
/// that they start, would lose their output. One at a time.
class [[nodiscard]] stderr_filter {
 public:
  stderr_filter() noexcept;
  ~stderr_filter();
  stderr_filter(const stderr_filter&) = delete;
  stderr_filter& operator=(const stderr_filter&) = delete;
};

}  // namespace tune::detail
