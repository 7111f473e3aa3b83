// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/forked_process.hpp"

#include <pthread.h>

#include "libtune/base/error.hpp"

namespace tune {

constinit std::atomic<bool> detail::forked{false};

// pthread_atfork needs memory. If it gets none, a forked child is not recognised.
void detail::watch_forks() noexcept {
  static const int registered = ::pthread_atfork(nullptr, nullptr, [] { forked = true; });
  static_cast<void>(registered);
}

void detail::throw_forked(const std::string& what) {
  throw forked_process_error(
      what +
      ": refused, for this process was made by fork, without exec, after libtune was used in its "
      "parent, whose threads, locks and devices it does not have; start it with exec (posix_spawn, "
      "subprocess, the start method 'spawn'), or fork before the first use of libtune");
}

}  // namespace tune
