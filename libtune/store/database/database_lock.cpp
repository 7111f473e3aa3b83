// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/store/database/database_lock.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "libtune/store/database/database_trust.hpp"
#include "libtune/store/files/file_lock.hpp"

namespace tune::detail {

database_lock::database_lock(const std::string& path, kind wanted, std::chrono::milliseconds wait)
    : file_(::open((path + suffix).c_str(),
                   O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
                   shares_database() ? 0660 : 0600)) {
  if (!file_) return;
  const int operation = (wanted == kind::shared ? LOCK_SH : LOCK_EX) | LOCK_NB;
  held_ = keep_trying(wait, [&] {
    return ::flock(file_.get(), operation) == 0 || (errno != EWOULDBLOCK && errno != EINTR);
  });
}

}  // namespace tune::detail
