// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cerrno>
#include <csignal>
#include <ctime>

#include "libtune/base/cxx20.hpp"

namespace tune::detail {

/// Keeps a write beyond the limit on file sizes from ending the process: while one lives, it is an
/// error of this thread's write like that of a full disk.
class [[nodiscard]] without_size_signal {
 public:
  without_size_signal() noexcept {
    ::sigemptyset(&signal_);
    ::sigaddset(&signal_, SIGXFSZ);
    ::pthread_sigmask(SIG_BLOCK, &signal_, &before_);
  }
  ~without_size_signal() {
    if (::sigismember(&before_, SIGXFSZ) == 1) return;
    const timespec at_once{};
    while (::sigtimedwait(&signal_, nullptr, &at_once) < 0 && errno == EINTR) continue;
    ::pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  without_size_signal(const without_size_signal&) = delete;
  without_size_signal& operator=(const without_size_signal&) = delete;

 private:
  sigset_t signal_{};
  sigset_t before_{};
};

}  // namespace tune::detail
