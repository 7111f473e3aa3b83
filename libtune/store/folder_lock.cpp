// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/folder_lock.hpp"

#include <cerrno>
#include <sys/file.h>
#include <thread>

namespace tune::detail {

folder_lock::folder_lock(const private_folder& folder, std::chrono::milliseconds wait)
    : file_(folder.open_lock_file(file_name)) {
  // By trying again, because a wait in the kernel has no end if the holder has been stopped. Any
  // other failure means that the file system has no locks.
  constexpr std::chrono::milliseconds pause{1};
  const auto deadline = std::chrono::steady_clock::now() + wait;
  while (true) {
    const bool taken = ::flock(file_.get(), LOCK_EX | LOCK_NB) == 0;
    held_ = taken || (errno != EWOULDBLOCK && errno != EINTR);
    if (held_ || std::chrono::steady_clock::now() >= deadline) return;
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace tune::detail
