// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/folder_lock.hpp"

#include <cerrno>
#include <sys/file.h>
#include <thread>

namespace tune::detail {

folder_lock::folder_lock(const private_folder& folder, std::chrono::milliseconds wait)
    : file_(folder.open_lock_file(file_name)) {
  // By trying again, because a wait in the kernel has no end if the holder has been stopped.
  constexpr std::chrono::milliseconds pause{1};
  const auto deadline = std::chrono::steady_clock::now() + wait;
  while (!held_) {
    if (::flock(file_.get(), LOCK_EX | LOCK_NB) == 0) {
      held_ = true;
    } else if (errno != EWOULDBLOCK && errno != EINTR) {
      held_ = true;  // this file system has no locks
    } else if (std::chrono::steady_clock::now() >= deadline) {
      return;
    } else {
      std::this_thread::sleep_for(pause);
    }
  }
}

}  // namespace tune::detail
