// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cerrno>
#include <csignal>
#include <ctime>

#include "libtune/base/cxx20.hpp"

namespace tune::detail {

/// While one lives, this thread receives no signal. Threads that it makes meanwhile never do: the
/// application's handlers are for the application's threads.
class [[nodiscard]] signals_blocked {
 public:
  signals_blocked() noexcept {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~signals_blocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  signals_blocked(const signals_blocked&) = delete;
  signals_blocked& operator=(const signals_blocked&) = delete;

 private:
  sigset_t before_{};
};

/// Keeps a write beyond the limit on file sizes from ending the process: while one lives, such a
/// write of this thread fails with EFBIG.
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
