// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cerrno>
#include <csignal>
#include <ctime>

#include "libtune/base/cxx20.hpp"

namespace tune::detail {

/// Blocks all signals in this thread during its life. Threads created meanwhile keep them blocked:
/// the application's signal handlers run on the application's threads only.
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

/// During its life, a write of this thread beyond the limit on file sizes fails with EFBIG instead
/// of ending the process.
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
