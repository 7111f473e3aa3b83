// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/base/end_of_program.hpp"

#include <algorithm>
#include <cstdlib>
#include <mutex>
#include <unistd.h>
#include <vector>

#include "libtune/base/never_destroyed.hpp"

namespace tune::detail {
namespace {

struct calls {
  std::mutex mutex;
  std::vector<void (*)()> all;
};

calls& calls_at_end() {
  static never_destroyed<calls> made;
  return *made;
}

void call_all() {
  std::vector<void (*)()> all;
  {
    const std::lock_guard lock(calls_at_end().mutex);
    all = calls_at_end().all;
  }
  for (const auto each : all) each();
}

/// Calls the functions when the main thread exits: thread-local objects of a thread that calls exit
/// are destroyed before any function of std::atexit is called.
struct end_of_thread {
  end_of_thread() = default;
  ~end_of_thread() { call_all(); }
  end_of_thread(const end_of_thread&) = delete;
  end_of_thread& operator=(const end_of_thread&) = delete;
};

}  // namespace

void call_at_end(void (*function)()) {
  {
    const std::lock_guard lock(calls_at_end().mutex);
    auto& all = calls_at_end().all;
    if (std::ranges::find(all, function) == all.end()) all.push_back(function);
  }
  std::atexit(call_all);
  if (::getpid() != ::gettid()) return;
  thread_local const end_of_thread of_main;
  static_cast<void>(&of_main);
}

void renew_calls_at_end() { std::atexit(call_all); }

}  // namespace tune::detail
