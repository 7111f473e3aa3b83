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

/// The outcome of a program that was given to a compile_pool.
struct compile_result {
  enum class status : std::uint8_t {
    built,          ///< binary is what context::create_program_from_binary takes
    build_failed,   ///< text is the compiler's log, as building in this process would have it
    crashed,        ///< the compiler took its process down
    timed_out,      ///< it was stopped at the time limit
    out_of_memory,  ///< it was stopped at the memory limit, or by the system
    unavailable,    ///< nothing was compiled: no worker can, or the request was cancelled
  };

  status what = status::unavailable;
  std::vector<std::byte> binary = {};
  std::string text = {};                ///< the log, or the reason; of built: empty
  std::chrono::nanoseconds elapsed{0};  ///< in the worker, from taking it up
  included_files included = {};         ///< of built: the files that went into it
};

/// "built", "build failed", "crashed" and so on.
std::string_view status_name(compile_result::status status) noexcept;

namespace detail {

/// A result without a binary.
compile_result failed(compile_result::status what, std::string text);

/// Where a pool's jobs are reported done: one lock for them and for the pool's own state. It
/// outlives the pool, as long as there are futures.
struct completion_board {
  std::mutex mutex;
  std::condition_variable changed;  ///< whenever a job is done
  std::uint64_t completed = 0;      ///< guarded by mutex
};

/// One program to compile, shared by all requests for it.
class compile_job {
 public:
  explicit compile_job(std::shared_ptr<completion_board> board) : board_(std::move(board)) {}
  compile_job(const compile_job&) = delete;
  compile_job& operator=(const compile_job&) = delete;

  completion_board& board() const noexcept { return *board_; }

  // For holders of the board's lock.
  bool is_done() const noexcept { return done_; }
  void begin() noexcept { begun_ = true; }
  void add_request() noexcept { ++requests_; }
  const compile_result& result() const noexcept { return result_; }  ///< fixed once it is done
  void add_listener(std::function<void()> function) { listeners_.push_back(std::move(function)); }

  // These take the board's lock themselves, and call the listeners without it.
  /// Makes it done, unless it is.
  void finish(compile_result result);
  /// Ends one request. If it was the last one and the job is not begun, it is done as unavailable.
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

/// A program under way in a compile_pool. A handle: copies mean the same request. Thread-safe.
class compile_future {
 public:
  explicit compile_future(std::shared_ptr<detail::compile_job> job);

  bool done() const;

  /// Waits. Never throws for the outcome of the program. The reference lives as long as a copy of
  /// this handle.
  const compile_result& result() const;

  /// Waits until it is done or the time has come. @returns done()
  bool wait_until(std::chrono::steady_clock::time_point deadline) const;

  /// Gives up the request. If no other one shares the program it is not begun, and is done as
  /// unavailable; one that has been begun is finished.
  void cancel() const;

  /// Calls the function once when it is done, on the pool's thread and at once if it is done
  /// already. It has to be short, not to throw and not to wait for another program.
  void on_done(std::function<void()> function) const;

 private:
  std::shared_ptr<detail::compile_job> job_;
  std::shared_ptr<std::atomic<bool>> cancelled_;
};

}  // namespace tune
