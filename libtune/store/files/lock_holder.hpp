// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// A process that holds a lock, in its present state.
struct lock_holder {
  ::pid_t process = 0;           ///< its number; 0 for a process of another container
  std::string program{};         ///< the name of its program file; empty if the system does not
                                 ///< show it
  bool stopped = false;          ///< by a signal or a debugger
  std::uint64_t used_ticks = 0;  ///< processor time of all its threads, in the system's unit
};

/// Returns the state of a process. Throws nothing except std::bad_alloc.
lock_holder look_at_holder(::pid_t process);

/// Returns a process that holds a lock in a file, given by its device and inode; exclusive locks
/// come before shared ones. It does not open the file. Empty if the system shows no such process.
std::optional<::pid_t> find_lock_holder(std::uint64_t device, std::uint64_t inode);
/// The same for a path.
std::optional<::pid_t> find_lock_holder(const std::string& path);

/// "process 123 (receiver)", "process 123 (receiver), which is stopped", "this process".
std::string describe(const lock_holder& holder);

}  // namespace tune
