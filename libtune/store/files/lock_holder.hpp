// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>

#include "libtune/base/cxx20.hpp"

namespace tune {

/// A process that has a lock, as the system shows it now.
struct lock_holder {
  ::pid_t process = 0;           ///< its number; 0 for a process of another container
  std::string program{};         ///< the name of the file that it runs; empty if that is not shown
  bool stopped = false;          ///< by a signal or a debugger
  std::uint64_t used_ticks = 0;  ///< processor time, of all its threads, in the system's unit
};

/// Looks a process up. Throws nothing except std::bad_alloc.
lock_holder look_at_holder(::pid_t process);

/// A process that has a lock in a file, by the file's device and inode; one that keeps all others
/// out before one that shares it. For files that must not be opened to ask. Empty if the system
/// shows none.
std::optional<::pid_t> find_lock_holder(std::uint64_t device, std::uint64_t inode);
/// The same by the file's path.
std::optional<::pid_t> find_lock_holder(const std::string& path);

/// "process 123 (receiver)", "process 123 (receiver), which is stopped", "this process".
std::string describe(const lock_holder& holder);

}  // namespace tune
