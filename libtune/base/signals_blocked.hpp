// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <csignal>

#include "libtune/base/cxx20.hpp"

namespace tune::detail {

/// While one lives, this thread receives no signal, and neither do threads that it makes, ever: the
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

}  // namespace tune::detail
