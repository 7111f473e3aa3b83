// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#include "libtune/compile/binary_writer.hpp"

#include <atomic>
#include <cstdlib>
#include <exception>
#include <system_error>
#include <unistd.h>
#include <utility>

#include "libtune/base/fork_guard.hpp"
#include "libtune/base/log.hpp"
#include "libtune/base/seal.hpp"
#include "libtune/base/signals_blocked.hpp"

namespace tune::detail {

binary_writer& binary_writer::shared() {
  static std::atomic<binary_writer*> current{nullptr};
  static std::mutex making;
  const fork_guard no_fork;  // a child finds the lock free
  binary_writer* writer = current.load();
  if (writer != nullptr && writer->owner_ == ::getpid()) return *writer;
  const std::lock_guard lock(making);
  writer = current.load();
  if (writer == nullptr || writer->owner_ != ::getpid()) {
    static const int registered = std::atexit([] {
      binary_writer* const last = current.load();
      if (last != nullptr && last->owner_ == ::getpid()) last->flush();
    });
    static_cast<void>(registered);
    writer = new binary_writer;
    current.store(writer);
  }
  return *writer;
}

binary_writer::binary_writer() : owner_(::getpid()) {}

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

void binary_writer::flush() noexcept {
  std::unique_lock lock(mutex_);
  written_.wait(lock, [&] { return !thread_runs_; });
  if (thread_.joinable()) thread_.join();
}

}  // namespace tune::detail
