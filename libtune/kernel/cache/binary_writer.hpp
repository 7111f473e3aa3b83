// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "libtune/store/cache/binary_cache.hpp"

namespace tune::detail {

/// Writes binaries to their cache on a thread of its own, those that have gathered meanwhile
/// together. The thread ends when there is nothing to write. Thread-safe.
class binary_writer {
 public:
  /// That of this process, never destroyed. What it has is written before the process ends by exit.
  static binary_writer& shared();

  binary_writer() = default;
  /// Waits until everything is written.
  ~binary_writer();
  binary_writer(const binary_writer&) = delete;
  binary_writer& operator=(const binary_writer&) = delete;

  void write(std::shared_ptr<const binary_cache> cache, binary_cache::entry entry);
  void flush() noexcept;

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable written_;
  std::shared_ptr<const binary_cache> cache_;  // of those that wait
  std::vector<binary_cache::entry> waiting_;
  std::thread thread_;
  bool thread_runs_ = false;
};

}  // namespace tune::detail
