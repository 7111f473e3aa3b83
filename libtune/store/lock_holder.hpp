// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <sys/types.h>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// A process that others wait for, as the system shows it now.
struct lock_holder {
  ::pid_t process = 0;           ///< its number; 0: it is one of another container
  std::string program{};         ///< the name of the file that it runs; empty if that is not shown
  bool stopped = false;          ///< by a signal or a debugger
  std::uint64_t used_ticks = 0;  ///< processor time, of all its threads, in the system's unit
};

/// Looks a process up. Does not throw but for want of memory.
lock_holder look_at_holder(::pid_t process);

/// "process 123 (receiver)", "process 123 (receiver), which is stopped", "this process".
std::string describe(const lock_holder& holder);

}  // namespace tune
