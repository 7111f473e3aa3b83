// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/kernel/cache/binary_writer.hpp"

#include <cstdlib>
#include <exception>
#include <system_error>
#include <utility>

#include "libtune/base/forked_process.hpp"
#include "libtune/base/log.hpp"
#include "libtune/base/never_destroyed.hpp"
#include "libtune/base/seal.hpp"
#include "libtune/base/signals.hpp"

namespace tune::detail {

binary_writer& binary_writer::shared() {
  static never_destroyed<binary_writer> writer;
  static const int registered = std::atexit([] { writer->flush(); });
  static_cast<void>(registered);
  return *writer;
}

binary_writer::~binary_writer() { flush(); }

void binary_writer::write(std::shared_ptr<const binary_cache> cache, binary_cache::entry entry) {
  std::unique_lock lock(mutex_);
  // Another folder than that of those before is rare; it waits for them.
  written_.wait(lock, [&] { return waiting_.empty() || cache_ == cache; });
  cache_ = std::move(cache);
  waiting_.push_back(std::move(entry));
  if (thread_runs_) return;
  if (thread_.joinable()) thread_.join();
  try {
    const signals_blocked quiet;
    thread_ = std::thread([this] { run(); });
    thread_runs_ = true;
  } catch (const std::system_error& failure) {
    log(log_level::debug, std::string("programs are not cached: ") + failure.what());
    waiting_.clear();
  }
}

void binary_writer::run() {
  const unsealed_section ours;  // who had something compiled has come to a door
  std::unique_lock lock(mutex_);
  while (!waiting_.empty()) {
    const auto cache = cache_;
    const auto entries = std::exchange(waiting_, {});
    lock.unlock();
    written_.notify_all();
    try {
      cache->save_all(entries);
    } catch (const std::exception& failure) {  // no memory
      log(log_level::debug, std::string("programs are not cached: ") + failure.what());
    }
    lock.lock();
  }
  thread_runs_ = false;
  written_.notify_all();
}

// A forked process lacks the thread.
void binary_writer::flush() noexcept {
  if (is_forked()) return;
  std::unique_lock lock(mutex_);
  written_.wait(lock, [&] { return !thread_runs_; });
  if (thread_.joinable()) thread_.join();
}

}  // namespace tune::detail
