// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database_lock.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>

namespace tune::detail {

database_lock::database_lock(const std::string& path, kind wanted, std::chrono::milliseconds wait)
    : file_(::open((path + suffix).c_str(),
                   O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
                   S_IRUSR | S_IWUSR)) {
  if (!file_) return;
  // By trying again, because a wait in the kernel has no end if the holder has been stopped.
  constexpr std::chrono::milliseconds pause{1};
  const int operation = (wanted == kind::shared ? LOCK_SH : LOCK_EX) | LOCK_NB;
  const auto deadline = std::chrono::steady_clock::now() + wait;
  while (true) {
    const bool taken = ::flock(file_.get(), operation) == 0;
    held_ = taken || (errno != EWOULDBLOCK && errno != EINTR);
    if (held_ || std::chrono::steady_clock::now() >= deadline) return;
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace tune::detail
