// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/fork_guard.hpp"

#include <atomic>
#include <pthread.h>
#include <shared_mutex>
#include <utility>

namespace tune::detail {
namespace {

// Never destroyed: threads may still use it while the process ends.
std::atomic<std::shared_mutex*> current{nullptr};

// Of this thread's guards. Only the outermost locks: another reader might have to wait for a fork
// that waits for the first.
thread_local int depth = 0;

// A child cannot unlock what a thread of its parent has locked, so it has a mutex of its own, made
// before the fork, for memory is better not asked for after it. Two threads may fork at a time. A
// plain pointer, for a thread may fork after its other variables have been destroyed.
thread_local std::shared_mutex* for_child = nullptr;

void before_fork() {
  for_child = new std::shared_mutex;
  current.load()->lock();
}

void after_fork_in_parent() {
  current.load()->unlock();
  delete std::exchange(for_child, nullptr);
}

void after_fork_in_child() { current = std::exchange(for_child, nullptr); }

std::shared_mutex& forks() {
  static const bool watched = [] {
    current = new std::shared_mutex;
    return ::pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child) == 0;
  }();
  static_cast<void>(watched);
  return *current.load(std::memory_order_acquire);
}

}  // namespace

fork_guard::fork_guard() {
  if (depth == 0) forks().lock_shared();
  ++depth;
}

fork_guard::~fork_guard() {
  if (--depth == 0) forks().unlock_shared();
}

}  // namespace tune::detail
