// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/fork_guard.hpp"

#include <new>
#include <pthread.h>
#include <shared_mutex>

namespace tune::detail {
namespace {

// Never destroyed: threads may still use it while the process ends. Readers are preferred, which
// is what the C library does unless told otherwise, so that a nested guard cannot wait.
std::shared_mutex& forks() {
  static std::shared_mutex* const mutex = [] {
    static std::shared_mutex* const made = new std::shared_mutex;
    // In the child the lock belongs to a thread of the parent, so it is made anew. Nobody else can
    // be using it there.
    ::pthread_atfork([] { made->lock(); }, [] { made->unlock(); },
                     [] { new (made) std::shared_mutex; });
    return made;
  }();
  return *mutex;
}

}  // namespace

fork_guard::fork_guard() { forks().lock_shared(); }

fork_guard::~fork_guard() { forks().unlock_shared(); }

}  // namespace tune::detail
