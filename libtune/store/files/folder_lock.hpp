// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>

#include "libtune/store/files/file_lock.hpp"
#include "libtune/store/files/private_folder.hpp"

namespace tune::detail {

/// Keeps other processes and threads from changing a folder while they do the same; readers do not
/// care. The lock is that of an empty file, which the system releases however a process ends and
/// which is never removed. Where a file system has no locks nobody is kept out.
class [[nodiscard]] folder_lock {
 public:
  static constexpr const char* file_name = "lock";

  /// Waits for others. @throws std::system_error if the file cannot be opened
  /// @param wait  for how long at most
  folder_lock(const private_folder& folder, std::chrono::milliseconds wait)
      : lock_(folder.open_lock_file(file_name)),
        held_(keep_trying(wait, [&] { return lock_.try_take() != lock_attempt::busy; })) {}

  /// False if others still had the lock in the end.
  explicit operator bool() const noexcept { return held_; }

 private:
  file_lock lock_;
  bool held_;
};

}  // namespace tune::detail
