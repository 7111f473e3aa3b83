// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <chrono>
#include <functional>
#include <utility>

#include "libtune/base/file_descriptor.hpp"

namespace tune {

/// Called repeatedly during a wait, on the waiting thread, with the time waited so far. An
/// exception ends the wait.
using wait_look = std::function<void(std::chrono::nanoseconds)>;

}  // namespace tune

namespace tune::detail {

/// The outcome of an attempt to lock a file.
enum class lock_attempt {
  taken,
  busy,       ///< another process, or another open file of this one, holds it
  removed,    ///< the file has lost its name, so that others lock another file
  impossible  ///< there is no file, or its file system has no locks
};

/// Exclusive or shared.
enum class lock_kind { alone, shared };

/// The system's lock (flock) of an open file, which need not be writable. The system releases it
/// whenever the process ends. Not thread-safe.
///
/// A forked process has a copy of the descriptor; closing that releases nothing.
class [[nodiscard]] file_lock {
 public:
  file_lock() noexcept = default;
  explicit file_lock(file_descriptor file) noexcept : file_(std::move(file)) {}
  file_lock(file_lock&& other) noexcept
      : file_(std::move(other.file_)), is_taken_(std::exchange(other.is_taken_, false)) {}
  file_lock& operator=(file_lock&& other) noexcept;
  ~file_lock() { release(); }

  /// Does not wait.
  lock_attempt try_take(lock_kind kind = lock_kind::alone) noexcept;
  /// Waits for other processes. If the file cannot be locked, there is no exclusion.
  /// @param wait  the longest wait
  /// @returns false if others still held the lock at the end
  bool take(std::chrono::milliseconds wait, lock_kind kind = lock_kind::alone);
  void release() noexcept;

  bool is_taken() const noexcept { return is_taken_; }
  const file_descriptor& file() const noexcept { return file_; }

 private:
  file_descriptor file_;
  bool is_taken_ = false;
};

/// Adds up the time of a wait. While this process is stopped, little of the time counts, so that it
/// can still wait when it continues. Not thread-safe.
class wait_clock {
 public:
  /// @param most_at_once  the longest time that counts between two calls of elapsed
  explicit wait_clock(
      std::chrono::milliseconds most_at_once = std::chrono::milliseconds(250)) noexcept
      : most_at_once_(most_at_once) {}

  std::chrono::nanoseconds elapsed() noexcept;

 private:
  std::chrono::milliseconds most_at_once_;
  std::chrono::steady_clock::time_point seen_ = std::chrono::steady_clock::now();
  std::chrono::nanoseconds counted_{0};
};

/// Calls attempt until it returns true or the wait is over, at increasing intervals. A wait in the
/// kernel would never end if the holder of the lock is stopped.
/// @param wait  zero or less for a single attempt
/// @param look  called between attempts; may be empty
/// @returns the last result of attempt
bool keep_trying(std::chrono::milliseconds wait, const std::function<bool()>& attempt,
                 const wait_look& look = {});

}  // namespace tune::detail
