// SPDX-FileCopyrightText: The libtune authors
// SPDX-License-Identifier: BSD-3-Clause
//
// What a compile_pool and its tickets share.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "libtune/kernel/pool/compile_ticket.hpp"

namespace tune::detail {

/// Where a pool's jobs are reported done: one lock for them and for the pool's own state. It
/// outlives the pool, as long as there are tickets.
struct completion_board {
  std::mutex mutex;
  std::condition_variable changed;  ///< whenever a job is done
  std::uint64_t completed = 0;      ///< guarded by mutex
};

/// One program to compile, for all that have asked for it.
class compile_job {
 public:
  explicit compile_job(std::shared_ptr<completion_board> board) : board_(std::move(board)) {}
  compile_job(const compile_job&) = delete;
  compile_job& operator=(const compile_job&) = delete;

  completion_board& board() const noexcept { return *board_; }

  // For holders of the board's lock.
  bool is_done() const noexcept { return done_; }
  bool is_begun() const noexcept { return begun_; }
  void begin() noexcept { begun_ = true; }
  void add_asker() noexcept { ++askers_; }
  const compile_result& result() const noexcept { return result_; }  ///< fixed once it is done
  void add_listener(std::function<void()> function) { listeners_.push_back(std::move(function)); }

  // These take the board's lock themselves, and call the listeners without it.
  /// Makes it done, unless it is.
  void finish(compile_result result);
  /// One of those who asked does so no more. If it was the last one and the job is not begun, it is
  /// done as unavailable.
  void drop_asker();

 private:
  using listeners = std::vector<std::function<void()>>;

  listeners settle(compile_result result);
  void tell(const listeners& told) const;

  std::shared_ptr<completion_board> board_;
  bool begun_ = false;
  bool done_ = false;
  int askers_ = 0;
  compile_result result_;
  listeners listeners_;
};

/// A result without a binary.
compile_result failed(compile_result::status what, std::string text);

}  // namespace tune::detail
