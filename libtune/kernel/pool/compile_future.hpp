// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libtune/base/cxx20.hpp"
#include "libtune/device/kernel.hpp"

namespace tune {

/// The result of a program that was submitted to a compile_pool.
struct compile_result {
  enum class status : std::uint8_t {
    built,          ///< binary is for context::create_program_from_binary
    build_failed,   ///< text is the compiler's log, as if built in this process
    crashed,        ///< the compiler's process crashed
    timed_out,      ///< the compiler was stopped at the time limit
    out_of_memory,  ///< the compiler was stopped at the memory limit, or by the system
    unavailable,    ///< not compiled: no worker is able to, or the request was cancelled
  };

  status what = status::unavailable;
  std::vector<std::byte> binary = {};
  std::string text = {};                ///< the log, or the reason; empty if built
  std::chrono::nanoseconds elapsed{0};  ///< in the worker, from the start
  included_files included = {};         ///< if built: the files that it was compiled from
};

/// "built", "build failed", "crashed" and so on.
std::string_view status_name(compile_result::status status) noexcept;

namespace detail {

/// A result without a binary.
compile_result failed(compile_result::status what, std::string text);

/// Reports finished jobs of a pool, with one lock for them and for the pool's own state. It
/// outlives the pool while there are futures.
struct completion_board {
  std::mutex mutex;
  std::condition_variable changed;  ///< notified whenever a job is done
  std::uint64_t completed = 0;      ///< guarded by mutex
};

/// One program to compile, shared by all requests for it.
class compile_job {
 public:
  explicit compile_job(std::shared_ptr<completion_board> board) : board_(std::move(board)) {}
  compile_job(const compile_job&) = delete;
  compile_job& operator=(const compile_job&) = delete;

  completion_board& board() const noexcept { return *board_; }

  // Call these with the board's lock.
  bool is_done() const noexcept { return done_; }
  void begin() noexcept { begun_ = true; }
  void add_request() noexcept { ++requests_; }
  const compile_result& result() const noexcept { return result_; }  ///< fixed when the job is done
  void add_listener(std::function<void()> function) { listeners_.push_back(std::move(function)); }

  // These take the board's lock themselves, and call the listeners without it.
  /// Sets the result, unless the job is done.
  void finish(compile_result result);
  /// Ends one request. If it was the last one and the job has not begun, the job ends as
  /// unavailable.
  void drop_request();

 private:
  using listeners = std::vector<std::function<void()>>;

  listeners settle(compile_result result);
  void call(const listeners& settled) const;

  std::shared_ptr<completion_board> board_;
  bool begun_ = false;
  bool done_ = false;
  int requests_ = 0;
  compile_result result_;
  listeners listeners_;
};

}  // namespace detail

/// A program in a compile_pool. A handle: copies refer to the same request. Thread-safe.
class compile_future {
 public:
  explicit compile_future(std::shared_ptr<detail::compile_job> job);

  bool done() const;

  /// Waits for the result. A failed program is not an exception. The reference is valid while a
  /// copy of this handle exists.
  const compile_result& result() const;

  /// Waits until it is done or the deadline has passed. @returns done()
  bool wait_until(std::chrono::steady_clock::time_point deadline) const;

  /// Cancels the request. If no other request shares the program, it is not started, and ends as
  /// unavailable; if it has been started, it is finished.
  void cancel() const;

  /// Calls the function once when it is done, on the pool's thread; immediately if it is done
  /// already. The function has to be short, and must not throw or wait for another program.
  void on_done(std::function<void()> function) const;

 private:
  std::shared_ptr<detail::compile_job> job_;
  std::shared_ptr<std::atomic<bool>> cancelled_;
};

}  // namespace tune
